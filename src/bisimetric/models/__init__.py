"""Chains and decision processes: validated, immutable, exact rows. Imports `_support` and `kernels`.

`rows` makes rows exact, `frames` reads data frames, `chain`, `mdp` and `policies` hold models, `estimated` chains
with their counts, `radii` how well rows are known, `confidence` how well data tell them, `partition` finds classes
of states, `lumping` makes the chain on classes.
"""
