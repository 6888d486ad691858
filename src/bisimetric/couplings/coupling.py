"""Couplings and potentials: what a solver proposes, seen pair by pair.

A `Witness` hands out, for any range of state pairs, the joint laws of the successors and one potential per
pair. `Coupling` and `Potentials` are the public views on it; both compute what is asked for and store
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support import memory
from bisimetric._support.frozen import Immutable
from bisimetric.errors import InvalidOption, SolverFailed
from bisimetric.kernels.layout import Cells, Trees
from bisimetric.linear import direct, krylov
from bisimetric.models.chain import state_index
from bisimetric.models.rows import ROW_SUM_TOL, UNIT_ROUNDOFF, Floats, offsets, real_array
from bisimetric.operators.bellman import Bellman
from bisimetric.problems.discounted import Problem

OCCUPANCY_TOL = 1e-14  # residual of an occupancy, relative to the largest entry of the right-hand side
CELLS_AT_ONCE = 2**22  # of couplings that are read in one block
SWEEPS = 60  # plain ones, before BiCGSTAB
UNCERTAIN = 1e-10  # fail above this error of an occupancy, in the 1-norm
ROUNDING = 64 * UNIT_ROUNDOFF  # residual of an occupancy, in the 1-norm, that may be rounding


class Witness(Protocol):
    """Proposes a coupling and a potential for every pair."""

    @property
    def cells_per_pair(self) -> int:
        """The most cells a pair can have, for choosing the length of a range."""
        ...

    def cells(self, first: int, last: int) -> Cells:
        """Couplings and potentials of the pairs first..last, flat unless the operator lists pairs."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TreeWitness:
    """Couplings as flows on transport trees, potentials as their duals for `value`.

    In the order of the pairs that were solved, or `everywhere`: for all pairs of states in flat order, mirrored or with
    equal states kept together where that is how their distance is known.
    """

    bellman: Bellman
    value: Floats
    trees: Trees
    everywhere: bool = False

    @property
    def cells_per_pair(self) -> int:
        return sum(self.bellman.longest)

    def cells(self, first: int, last: int) -> Cells:
        read = self.bellman.read_pairs if self.everywhere else self.bellman.read_trees
        return read(self.value, self.trees, first, last)

    def by_states(self) -> TreeWitness:
        """The same for all pairs of states, also where only some of them are solved."""
        return TreeWitness(self.bellman, self.value, self.trees, everywhere=True)


def without_flows(trees: Trees) -> Trees:
    """Trees without the evaluation's copy of their flows, which a solution does not need."""
    return trees._replace(target=np.empty(0, np.int32), weight=np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class IndependentWitness:
    """The independent coupling P[x] ⊗ Q[y] and zero potentials: valid for any problem, optimal for few."""

    bellman: Bellman

    @property
    def cells_per_pair(self) -> int:
        return self.bellman.longest[0] * self.bellman.longest[1]

    def cells(self, first: int, last: int) -> Cells:
        cells = pair_cells(self.bellman, first, last)
        source, target, m = self.bellman.source, self.bellman.target, self.bellman.shape[1]
        count = np.diff(cells.indptr)
        x, y = np.divmod(np.arange(first, last), m)
        sizes_y = self.bellman.sizes[1][y]
        inside = np.arange(cells.indptr[-1]) - np.repeat(cells.indptr[:-1], count)
        left, right = np.divmod(inside, np.repeat(sizes_y, count))
        pair = np.repeat(np.arange(last - first), count)
        weight = source.data[source.indptr[x][pair] + left] * target.data[target.indptr[y][pair] + right]
        return cells._replace(
            left=left.astype(np.int32), right=right.astype(np.int32), weight=weight, potential=np.zeros(cells.start[-1])
        )


@dataclass(frozen=True, slots=True, eq=False)
class StoredWitness:
    """Couplings and potentials held in arrays, as read from a file."""

    all_cells: Cells

    @property
    def cells_per_pair(self) -> int:
        return _longest(self.all_cells.indptr)

    def cells(self, first: int, last: int) -> Cells:
        stored = self.all_cells
        if first == 0 and last == len(stored.indptr) - 1:
            return stored
        a, b = stored.indptr[first], stored.indptr[last]
        c, d = stored.start[first], stored.start[last]
        return Cells(
            stored.indptr[first : last + 1] - a,
            stored.left[a:b],
            stored.right[a:b],
            stored.weight[a:b],
            stored.start[first : last + 1] - c,
            stored.potential[c:d],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Coupling(Immutable):
    """A transition coupling: coupling[x, y] is the joint law of the successors of x and y, a sparse [n, m] array."""

    problem: Problem
    witness: Witness
    start_law: Callable[[], Floats]  # joint law of the two starts, [n, m]

    def __getitem__(self, pair: tuple[int | str, int | str]) -> sparse.csr_array:
        x, y = pair_indices(self.problem, pair)
        m = self.problem.shape[1]
        cells = self.witness.cells(x * m + y, x * m + y + 1)
        left, right = (
            self.problem.source.successors(x)[cells.left],
            self.problem.target.successors(y)[cells.right],
        )
        return sparse.csr_array((cells.weight, (left, right)), shape=self.problem.shape)

    def matrix(self) -> sparse.csr_array:
        """All joint laws as one sparse [n·m, n·m] matrix over flat pairs x·m + y; rows of stopped pairs are empty."""
        n, m = self.problem.shape
        memory.require(
            24 * n * m * self.witness.cells_per_pair,
            f"the coupling of {n} x {m} state pairs as a matrix",
            "look at single pairs with coupling[x, y]",
        )
        step = max(m, (CELLS_AT_ONCE // max(self.witness.cells_per_pair, 1)) // m * m)
        parts = [self._flat_rows(first, min(first + step, n * m)) for first in range(0, n * m, step)]
        indptr = offsets(np.concatenate([part[0] for part in parts]))
        index_type = np.int32 if max(indptr[-1], n * m) < 2**31 else np.int64
        columns = np.concatenate([part[1].astype(index_type) for part in parts])
        weight = np.concatenate([part[2] for part in parts])
        return sparse.csr_array((weight, columns, indptr.astype(index_type)), shape=(n * m, n * m))

    def occupancy(self, start: object = None) -> Floats:
        """Discounted share of time that the coupled chains spend at each pair, [n, m]; sums to 1 if nothing stops.

        `start` is a pair of states or a joint law [n, m]; by default the chains' own starts. Errors add up to 1e-10
        at most, or to what rounding does close to discount 1 (7e-15/(1 - discount)); else SolverFailed is raised.
        """
        n, m = self.problem.shape
        discount = self.problem.discount
        transposed = self.matrix().T.tocsr()
        b = (1.0 - discount) * self.law(start).ravel()
        closed = self.problem.stop is None or not self.problem.stop.any()
        return visits(transposed, b, discount, rows=n, closed=closed).reshape(n, m)

    def simulate(self, steps: int, seed: int, *, start: object = None) -> npt.NDArray[np.int64]:
        """A path of the coupled chains, [steps + 1, 2]; it ends early at a stopped pair. Same seed, same path."""
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
            raise InvalidOption(f"steps is {steps!r}, expected a whole number ≥ 0")
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InvalidOption(f"seed is {seed!r}, expected a whole number ≥ 0")
        random = np.random.default_rng(seed)
        law = self.law(start)
        m = law.shape[1]
        here = int(random.choice(law.size, p=law.ravel() / law.sum()))
        path = [divmod(here, m)]
        for _ in range(steps):
            if self.problem.stop is not None and self.problem.stop[path[-1]]:
                break
            _, targets, weight = self._flat_rows(here, here + 1)
            here = int(targets[np.searchsorted(np.cumsum(weight), random.random() * weight.sum(), side="right")])
            path.append(divmod(here, m))
        return np.array(path, np.int64)

    def _flat_rows(self, first: int, last: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
        """Cells per pair, flat successor pairs and weights of the pairs first..last."""
        cells = self.witness.cells(first, last)
        rows = self.problem.source.transitions, self.problem.target.transitions
        return np.diff(cells.indptr), successors(cells, *rows, first), cells.weight

    def law(self, start: object) -> Floats:
        if start is None:
            return self.start_law()
        n, m = self.problem.shape
        if isinstance(start, np.ndarray) and start.ndim == 2:
            law = real_array(start, "start", InvalidOption, ndim=2)
            if law.shape != (n, m) or law.min() < 0 or not abs(law.sum() - 1) <= ROW_SUM_TOL:
                raise InvalidOption(f"start has shape {law.shape} and sum {law.sum():.12g}, expected {(n, m)} and 1")
            refuse_unsolved(self.problem, law > 0.0)
            return law
        law = np.zeros((n, m))
        law[pair_indices(self.problem, start)] = 1.0
        return law

    def __repr__(self) -> str:
        n, m = self.problem.shape
        return f"Coupling({n} x {m} state pairs; coupling[x, y] is the joint law of the successors)"


@dataclass(frozen=True, slots=True, eq=False)
class Potentials(Immutable):
    """potentials[x, y] = (f, g) on the successors of x and of y: the proof of a lower bound L on the distances.

    f + g ≤ L on the successors, and L ≤ c + γ(<f, P[x]> + <g, Q[y]>) at every pair.
    """

    problem: Problem
    witness: Witness
    checked: Floats  # [n, m], L is this less `shortfall`
    shortfall: float
    scale: float  # of the numbers above and of the witness

    def __getitem__(self, pair: tuple[int | str, int | str]) -> tuple[Floats, Floats]:
        m = self.problem.shape[1]
        x, y = pair_indices(self.problem, pair)
        g = self.witness.cells(x * m + y, x * m + y + 1).potential
        costs = self.checked[np.ix_(self.problem.source.successors(x), self.problem.target.successors(y))]
        return ((costs - self.shortfall) - g).min(axis=1) / self.scale, g / self.scale

    def __repr__(self) -> str:
        n, m = self.problem.shape
        return f"Potentials({n} x {m} state pairs; potentials[x, y] is (f, g) on the successors)"


def pair_indices(problem: Problem, pair: object) -> tuple[int, int]:
    """The indices of a source and a target state, each given by index or by name."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidOption(f"{pair!r} is not a pair of states, expected (source state, target state)")
    source, target = problem.source, problem.target
    x = state_index(pair[0], source.n_states, source.names)
    y = state_index(pair[1], target.n_states, target.names)
    refuse_unsolved(problem, (x, y))
    return x, y


def refuse_unsolved(problem: Problem, pairs: tuple[int, int] | npt.NDArray[np.bool_]) -> None:
    """Raise if a pair, or one of those that a mask selects, was not solved: nothing is known there."""
    if problem.unsolved is not None and np.any(problem.unsolved[pairs]):
        raise InvalidOption(
            "the starts do not lead to this pair of states, so pairs='reachable' did not solve it; pairs='all' does"
        )


def occupancy_error(discount: float) -> float:
    """What the errors of an occupancy may add up to."""
    return max(UNCERTAIN, ROUNDING / (1.0 - discount))


def visits(transposed: Any, b: Floats, discount: float, *, rows: int, closed: bool) -> Floats:
    """ν = b + γΠᵀν, not negative; `transposed` is Πᵀ in any sparse form, `closed` says that Π loses no mass.

    From a single pair BiCGSTAB often diverges, so sweeps spread the law first. What it finds counts by its own
    residual, in the 1-norm; where that is too large a factorisation solves the system.
    """
    mass = float(b.sum()) / (1.0 - discount)
    certain = occupancy_error(discount)
    apply = krylov.of_matrix(transposed, discount)
    target = OCCUPANCY_TOL * float(b.max())

    def by_bicgstab() -> Floats:
        spread = _swept(transposed, b, discount, b, SWEEPS)
        return krylov.bicgstab(apply, b, spread, rows=rows, target=target).x

    def by_factors() -> Floats:
        return direct.Factors(sparse.csr_array(transposed), discount).solve(b, target)[0]

    error = np.inf
    for method in (by_bicgstab, by_factors):
        law = method()
        if not np.isfinite(law).all():
            continue
        law = _swept(transposed, b, discount, np.maximum(law, 0.0), 1)
        if closed and law.sum() > 0:
            law *= mass / law.sum()
        error = float(np.abs(b + discount * (transposed @ law) - law).sum()) / (1.0 - discount)
        if error <= certain * mass:
            return law
    raise SolverFailed(f"an occupancy is known only to {error:.1g} in total; choose a smaller discount")


def _swept(transposed: Any, b: Floats, discount: float, law: Floats, times: int) -> Floats:
    """ν = b + γΠᵀν so many times."""
    for _ in range(times):
        law = b + discount * (transposed @ law)
    return law


def successors(cells: Cells, P: Any, Q: Any, first: int = 0) -> npt.NDArray[np.int64]:
    """The flat pair of states that each cell leads to; the cells are those of the flat pairs from `first` on."""
    m = len(Q.indptr) - 1
    x, y = np.divmod(first + np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr)), m)
    to: npt.NDArray[np.int64] = P.indices[P.indptr[x] + cells.left].astype(np.int64)
    to *= m
    to += Q.indices[Q.indptr[y] + cells.right]
    return to


def pair_cells(bellman: Bellman, first: int, last: int) -> Cells:
    """Room for all S_x·S_y cells of the pairs first..last, none at a stop."""
    x, y = np.divmod(np.arange(first, last), bellman.shape[1])
    sizes_y = bellman.sizes[1][y]
    count = bellman.sizes[0][x] * sizes_y
    if bellman.stop.size:
        count[bellman.stop[x, y]] = 0
    indptr = offsets(count)
    start = offsets(sizes_y)
    total = int(indptr[-1])
    return Cells(
        indptr, np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total), start, np.empty(int(start[-1]))
    )


def _longest(indptr: npt.NDArray[np.int64]) -> int:
    return int(np.diff(indptr).max())
