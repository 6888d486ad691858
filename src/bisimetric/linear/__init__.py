"""Linear systems (I - γΠ) x = b, whatever Π is. Imports `models` and below.

`ladder` is the door: BiCGSTAB and GMRES (`krylov`), then structure and factorisations (`direct`).
"""
