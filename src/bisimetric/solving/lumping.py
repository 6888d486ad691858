"""Problems on classes of states: smaller, with the same distances.

Where two source states have equal rows in the cost (and in the stop mask) and move alike into every class of such
states, their distances to anything are equal; likewise for the target. So the problem is solved on classes,

    V̂(X, Y) = ĉ(X, Y) + γ · min { <π̂, V̂> : π̂ couples P̂[X] and Q̂[Y] },        V*(x, y) = V̂(X, Y) for x ∈ X, y ∈ Y,

where P̂[X] is the row of the first state of X, summed over classes. Rows are rounded when a chain is made, so states
that move alike on paper may differ by a few roundings. The distance between the rows of a class and P̂[X] is measured
and added to P̂'s `row_error`, which widens the quotient's certificate: with δ the largest 1-norm of each side,

    |V* - V̂| ≤ γ/(1-γ) · ½(δ_x + δ_y) · span V̂.

Such a class is marked as `merged`: no distance from it is proved to be zero, not even from itself.

No sweep over the full problem is needed. Couplings are lifted to states when they are read (kernels/lifting.py).

Reference: Kemeny & Snell 1960 (lumpability).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import changed
from bisimetric.certificates.check import provable, zero_candidates
from bisimetric.certificates.zeros import closed_subset
from bisimetric.couplings.lifted import LiftedWitness
from bisimetric.models.chain import MarkovChain
from bisimetric.models.lumping import Lump, lump
from bisimetric.models.partition import Classes, Moves, refine
from bisimetric.models.rows import GRAIN, Floats
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solution import Solution

WORTHWHILE = 0.5  # solve the quotient if it has at most this share of the pairs
GRAINS_PER_ENTRY = 4  # grains per entry of a row by which sums that are equal on paper may differ
SHARE_OF_TOL = 0.05  # the most that lumping may add to the relative gap, as a share of the requested one
ROWS_AT_ONCE = 64  # rows of the cost that are compared in one call
MIXER = np.uint64(0x9E3779B97F4A7C15)  # multiplier of hashes: 2^64 divided by the golden ratio, made odd


@dataclass(frozen=True, slots=True, eq=False)
class Lumping:
    """A problem and the smaller one that stands for it."""

    full: Problem
    source: Lump
    target: Lump
    small: Problem

    def reduce(self, guess: Floats) -> Floats:
        """A guess of the distances, reduced to classes."""
        return guess[np.ix_(self.source.first, self.target.first)]

    def reduce_starts(self, source: Floats, target: Floats) -> tuple[Floats, Floats]:
        """The initial laws on the classes."""
        return self.source.reduce_law(source), self.target.reduce_law(target)

    def lift(self, solution: Solution) -> Solution:
        """The full problem's solution from that of the small one."""
        old = solution.certificate
        value, lower, upper, checked_value = map(self._spread, (old.value, old.lower, old.upper, solution._proof.value))
        witness = LiftedWitness.of(solution._proof.witness, solution._proof.value, self.full, self.source, self.target)
        if provable(self.small) is not None:  # states may have exact rows where their class has not
            candidate = zero_candidates(self.full.cost, upper, float((upper - lower).max()))
            inside = provable(self.full)
            if inside is not None:
                candidate &= inside
            zero = closed_subset(candidate, witness.coupled, witness.cells_per_pair)
            value[zero] = lower[zero] = upper[zero] = 0.0
        certificate = replace(old, value=value, lower=lower, upper=upper).without(self.full.unsolved)
        proof = solution._proof._replace(witness=witness, value=checked_value)
        return replace(solution, problem=self.full, certificate=certificate, _proof=proof)

    def _spread(self, array: Floats) -> Floats:
        return array[np.ix_(self.source.classes, self.target.classes)]


def find_quotient(problem: Problem, tol: float) -> Lumping | None:
    """The problem on classes, if it has at most half as many pairs and its certificate can reach `tol`."""
    n, m = problem.shape
    most = int(WORTHWHILE * n * m)
    tables: list[npt.NDArray[Any]] = [problem.cost] if problem.stop is None else [problem.cost, problem.stop]
    groups_x = _equal_rows(tables)
    groups_y = _equal_rows([table.T for table in tables])
    kinds = int(groups_x.max() + 1), int(groups_y.max() + 1)
    if kinds[0] * kinds[1] > most:
        return None
    classes_x = classes_of(problem.source, groups_x, most // kinds[1])
    if classes_x is None:
        return None
    if problem.target is problem.source and np.array_equal(groups_x, groups_y):
        classes_y = classes_x if int(classes_x.max() + 1) ** 2 <= most else None
    else:
        classes_y = classes_of(problem.target, groups_y, most // int(classes_x.max() + 1))
    if classes_y is None:
        return None
    source = lump(_bare(problem.source), classes_x)
    target = source if classes_y is classes_x else lump(_bare(problem.target), classes_y)
    moved = float(source.moved.max() + target.moved.max())
    if problem.discount / (1.0 - problem.discount) * moved > SHARE_OF_TOL * tol:
        return None
    here = np.ix_(source.first, target.first)
    stop = None if problem.stop is None else problem.stop[here]
    return Lumping(problem, source, target, problem.part(source.chain, target.chain, problem.cost[here], stop))


def _bare(chain: MarkovChain) -> MarkovChain:
    """The chain with only those parts that couplings depend on."""
    return changed(chain, reward=None, start=None, names=None, labels=None)


def classes_of(chain: MarkovChain, groups: Classes, most: int) -> Classes | None:
    """Classes of states that move alike and are in one group; None if there are more than `most`."""
    rows = chain.transitions
    tol = GRAINS_PER_ENTRY * GRAIN * int(np.diff(rows.indptr).max())
    return refine(Moves(rows.indptr, rows.indices, rows.data), groups, tol, most)


def _equal_rows(tables: list[npt.NDArray[Any]]) -> Classes:
    """Groups of states whose rows are equal in all tables: compares a hash of each row, then the entries."""
    n = len(tables[0])
    key = np.zeros(n, np.uint64)
    for table in tables:
        odd = 2 * np.arange(table.shape[1], dtype=np.uint64) + np.uint64(1)
        whole = table.view(np.uint64) if table.dtype == np.float64 else table.astype(np.uint64)
        key = key * MIXER + whole @ (odd * MIXER)  # modulo 2^64
    _, first, groups = np.unique(key, return_index=True, return_inverse=True)
    if len(first) == n:
        return np.arange(n)
    like = first[groups]
    for table in tables:
        for k in range(0, n, ROWS_AT_ONCE):
            part = slice(k, k + ROWS_AT_ONCE)
            other = (table[part] != table[like[part]]).any(axis=1)
            like[part][other] = np.arange(n)[part][other]  # rows that differ but have the same hash stay alone
    return np.unique(like, return_inverse=True)[1].astype(np.int64)
