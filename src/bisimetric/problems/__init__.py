"""The questions, checked once in their constructors: two models, a cost, a discount.

Imports `cost`, `models` and below.
"""
