"""Linear systems (I - γΠ) x = b, whatever Π is. Imports `_support` and `kernels`."""
