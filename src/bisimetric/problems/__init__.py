"""The questions: two models, a cost and a discount, checked once. Imports `models` and `bisimetric.cost`."""
