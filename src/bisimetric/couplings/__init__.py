"""Couplings and potentials: what solvers propose and users look at. Imports `operators` and below."""
