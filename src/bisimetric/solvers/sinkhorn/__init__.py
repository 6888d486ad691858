"""The entropic solvers: couplings by Sinkhorn projections. Imports `solvers.base`, `couplings` and below."""
