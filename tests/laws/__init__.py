"""Laws of the distance, tried on every solver: the same test for each, against naive oracles."""
