"""Occupancies ν = b + γΠᵀν by BiCGSTAB with the two triangles of γΠᵀ as its preconditioner.

Substitutions through triangles spread mass over many steps at once: a third of the products of plain BiCGSTAB do, and a
product costs no more. They go from pair to pair, so threads share only the vector operations of large systems. The
kernels are in kernels/splitting.py.

Reference: Eisenstat 1981.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric.linear.krylov import MAX_PRODUCTS, Solved, bicgstab
from bisimetric.models.rows import Floats, Ints

IN_ONE_CALL = 2**20  # cells up to which a solve is one call, of half a second at most
VECTOR_PARTS = 64  # of the vectors that threads share; sums over each are added in order: threads change nothing


class Split(NamedTuple):
    """γΠ, scaled and with the cells of each row split into those that lead back and those that lead on."""

    begin: npt.NDArray[np.int64]  # [rows + 1]
    middle: npt.NDArray[np.int64]  # [rows]
    to: npt.NDArray[np.int32]  # [cells]
    share: Floats  # [cells]
    stay: Floats  # [rows], 1 - γΠ(k, k)

    @classmethod
    def of(cls, moves: sparse.csr_array, inside: Ints, discount: float) -> Split:
        """The rows `inside`, ascending, which lead to each other only."""
        indptr: npt.NDArray[Any] = moves.indptr
        cells = int((indptr[inside + 1] - indptr[inside]).sum())
        size = len(inside)
        made = cls(
            np.empty(size + 1, np.int64),
            np.empty(size, np.int64),
            np.empty(cells, np.int32),
            np.empty(cells),
            np.empty(size),
        )
        place = np.empty(len(indptr) - 1, np.int64)
        kernels.splitting.split(inside, indptr, moves.indices, moves.data, discount, place, *made)
        return made

    def solve(self, b: Floats, target: float) -> Solved:
        """ν for which |b + γΠᵀν - ν|₁ is at most twice the target; the residual is that of the system with M."""
        triangles = self.begin, self.middle, self.to, self.share
        right = b.copy()
        kernels.splitting.substitute(*triangles, right, False)
        x = right.copy()
        if len(self.to) <= IN_ONE_CALL:
            system = kernels.krylov.split_system(*triangles)
            solved = Solved(x, *kernels.krylov.bicgstab(system, right, x, target, MAX_PRODUCTS))
        else:
            pushed, rows = np.zeros(len(x)), min(VECTOR_PARTS, len(x))
            solved = bicgstab(
                lambda vector, out, other: kernels.splitting.apply_split(*triangles, vector, out, other, pushed),
                right, x, rows=rows, target=target, in_total=True,
            )  # fmt: skip
        kernels.splitting.substitute(*triangles, x, True)
        x /= self.stay
        return solved

    def sweep(self, b: Floats, law: Floats) -> tuple[Floats, float]:
        """b + γΠᵀ law, and the sum of its differences from `law`."""
        after = np.empty(len(law))
        change = kernels.splitting.sweep_split(self.begin, self.to, self.share, self.stay, b, law, after)
        return after, change
