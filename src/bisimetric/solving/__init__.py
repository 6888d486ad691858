"""The loop that drives every solver, and the answers it gives. Imports `solvers`, `certificates` and below."""
