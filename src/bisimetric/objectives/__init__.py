"""Distances with other objectives than a discounted sum, in one call: over a finite horizon, and in the long run.

Imports `readers`, `solving` and below.
"""
