"""Linear systems (I - γΠ) x = b for any matrix Π of probabilities. Imports `_support` and `kernels`."""
