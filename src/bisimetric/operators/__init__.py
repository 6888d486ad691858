"""Bellman operators on arrays: what solvers call. Imports `problems`, `linear` and `kernels`."""
