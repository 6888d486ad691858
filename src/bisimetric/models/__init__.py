"""Chains and decision processes as validated, immutable objects. Imports `_support` and `kernels`."""
