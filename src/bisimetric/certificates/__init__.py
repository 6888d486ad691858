"""From an iterate to certified bounds, whoever proposed it. Imports `couplings` and below, never `solvers`."""
