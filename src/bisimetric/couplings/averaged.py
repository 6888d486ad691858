"""The averaged occupancy coupling of a run, for which the paper's theorems hold.

    μ_k(xy, x'y') = ν_k(xy) π_k(x'y'|xy),   ν_k = (1-γ) ν_0 + γ Π_kᵀ ν_k,   μ̄ = (μ_1 + … + μ_K)/K,   π_μ̄ = μ̄/ν̄

ν_0 is the joint law of independent starts, or uniform over all pairs if a chain has no start. Averages of couplings do
not factor, so this stores all Σ S_x·S_y cells, and every round costs a linear solve. The solver decides after how many
rounds it takes the output.

Reference: Calo et al. 2024, Theorem 2 and Appendix D.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric.couplings.factored import Factored
from bisimetric.couplings.occupancy import visits
from bisimetric.couplings.rounded import policy_value
from bisimetric.couplings.witness import IndependentWitness, StoredWitness, pair_cells, successors
from bisimetric.kernels.layout import Cells
from bisimetric.linear import krylov
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman

BYTES_PER_AVERAGED_CELL = 56  # current and summed weights, positions, successors, and the output's copies


@dataclass(slots=True, eq=False)
class Average:
    """Sums over the rounds so far."""

    bellman: Bellman
    cells: Cells  # the couplings of the last round
    columns: npt.NDArray[np.int64]  # [cells], flat successor pairs
    flow: Floats  # [cells], Σ ν_k π_k
    visited: Floats  # [pairs], Σ ν_k
    paid: float = 0.0  # Σ <μ_k, c>, in the operator's scale
    count: int = 0
    _state: Factored | None = field(default=None, repr=False)

    @classmethod
    def start(cls, bellman: Bellman) -> Average:
        """Empty sums; raises `NotEnoughMemory` if they do not fit."""
        n, m = bellman.shape
        size = len(bellman.source.data) * len(bellman.target.data)
        memory.require(
            BYTES_PER_AVERAGED_CELL * size,
            f"the averaged coupling of {n} x {m} state pairs",
            'output="last" needs far less',
        )
        cells = IndependentWitness(bellman).cells(0, n * m)
        columns = successors(cells, bellman.source, bellman.target)
        return cls(bellman, cells, columns, np.zeros(len(columns)), np.zeros(n * m))

    def add(self, state: Factored, *, rounded: bool) -> None:
        """Add the couplings of one round, as they are or `rounded`."""
        bellman, cells = self.bellman, self.cells
        n, m = bellman.shape
        kernels.sinkhorn.rounding.rounded(
            0, n * m, bellman.source, bellman.target, state.scalings, state.whole, state.rest, rounded, cells
        )
        start = (1.0 - bellman.discount) * bellman.start_law().ravel()
        law = visits(self._matrix(cells.weight), start, bellman.discount, closed=not bellman.stop.size)
        self.flow += np.repeat(law, np.diff(cells.indptr)) * cells.weight
        self.visited += law
        self.paid += float((law * bellman.scaled_cost().ravel()).sum())
        self.count += 1
        self._state = state

    def output(self, guess: Floats, target: float) -> tuple[Floats, StoredWitness]:
        """The value of π_μ̄ rounded to valid couplings, and those couplings."""
        assert self._state is not None
        bellman, state = self.bellman, self._state
        n, m = bellman.shape
        cells = pair_cells(bellman, 0, n * m)
        visited = np.repeat(self.visited, np.diff(cells.indptr))
        np.divide(self.flow, visited, out=cells.weight, where=visited > 0)
        kernels.sinkhorn.rounding.make_valid(0, n * m, bellman.source, bellman.target, self.visited, cells)
        matrix = self._matrix(cells.weight)
        apply = krylov.of_matrix(matrix, bellman.discount)
        value = policy_value(bellman, apply, lambda: matrix, guess, target)
        kernels.sinkhorn.rounding.potentials(
            0, n * m, value, bellman.source, bellman.target, state.scalings, state.total_step, cells
        )
        return value, StoredWitness(cells)

    def _matrix(self, weight: Floats) -> sparse.csr_array:
        size = self.bellman.shape[0] * self.bellman.shape[1]
        return sparse.csr_array((weight, self.columns, self.cells.indptr), shape=(size, size))
