"""The arrays of many small problems, one after the other, and what is done to all of them in one call.

Vectors have one entry per pair of states, problem by problem. Chains that several problems share are stored once. Costs
are scaled per problem by a power of two, as in `operators.bellman`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.blocks import for_each_block
from bisimetric.kernels.layout import Cells, ChainRows, ProblemArrays, Trees
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats, Ints, Mask, held_rows, offsets
from bisimetric.operators.bellman import PIVOT_TOL, PIVOT_TOL_NODES, Bellman
from bisimetric.operators.trees import TreeWitness, is_symmetric
from bisimetric.problems.discounted import Problem
from bisimetric.problems.side_by_side import ManyProblems

PROBLEMS_AT_ONCE = 64  # problems in one block of work, a few milliseconds: threads then end at about the same time
SHIFT = 8  # bits of a node number in a tree's code


class ManyTrees(NamedTuple):
    """What a compiled solve leaves: the trees of all pairs, and numbers, in each problem's scale."""

    code: npt.NDArray[np.uint16]  # [cells], as in `Trees`
    used: npt.NDArray[np.uint16]  # [pairs]
    value: Floats  # [pairs], that the trees are optimal for
    estimate: Floats  # [pairs], the value of the trees' coupling
    gaps: Floats  # [problems, steps], what the solver believes after each step
    steps: Ints  # [problems]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """The Bellman operators of many problems."""

    arrays: ProblemArrays
    discount: float
    cost_error: float
    chains: Sequence[MarkovChain]  # in the order of the arrays
    mirror: Ints  # [pairs], the pair (y, x) of (x, y) where V is symmetric, else the pair itself; empty if none is

    @classmethod
    def of(cls, problems: ManyProblems) -> SideBySide:
        """The operators of problems with at most 2⁸ successors of a pair."""
        parts = problems.parts
        numbers: dict[int, int] = {}  # of the chains, by identity
        chains: list[MarkovChain] = []
        ends: list[int] = []  # source and target of one problem after the other
        for part in parts:
            for chain in (part.source, part.target):
                number = numbers.setdefault(id(chain), len(chains))
                if number == len(chains):
                    chains.append(chain)
                ends.append(number)
        source, target = np.array(ends).reshape(-1, 2).T.copy()
        rows = [held_rows(chain) for chain in chains]
        indptr = np.concatenate([r.indptr for r in rows], dtype=np.int64)
        states = np.array([chain.n_states for chain in chains])
        entries = indptr[np.cumsum(states + 1) - 1]
        stored = ChainRows(
            offsets(states),
            offsets(entries),
            indptr,
            np.concatenate([r.indices for r in rows], dtype=np.int32),
            np.concatenate([r.data for r in rows]),
        )
        n, m = states[source], states[target]
        pair_at, cell_at = offsets(n * m), offsets(m * (entries[source] - n) + n * entries[target])
        cost = np.concatenate([part.cost for part in parts], axis=None)
        cost.setflags(write=False)  # as in single problems, for which kernels are compiled
        arrays = ProblemArrays(
            stored, source, target, pair_at, cell_at, cost, scales(cost, pair_at), _stops(parts, n * m)
        )
        return cls(arrays, problems.discount, problems.cost_error, chains, _mirror(parts, pair_at))

    @property
    def scale(self) -> float:
        """That of the loop, which compares relative gaps."""
        return 1.0

    @property
    def size(self) -> int:
        """How many problems there are."""
        return len(self.arrays.source)

    @cached_property
    def counts(self) -> Ints:
        """[problems], pairs of states."""
        return np.diff(self.arrays.pair_at)

    def gap_of(self, span: float) -> float:
        """The gap that residuals of this span leave."""
        return span * self.discount / (1.0 - self.discount)

    def per_pair(self, numbers: Floats) -> Floats:
        """One entry per problem as one entry per pair."""
        return np.repeat(numbers, self.counts)

    def largest(self, vector: Floats) -> Floats:
        """[problems], the largest entries of a vector."""
        found: Floats = np.maximum.reduceat(vector, self.arrays.pair_at[:-1])
        return found

    def solve(self, goal: float) -> ManyTrees:
        """Solve all problems to relative gaps of `goal` by their own bounds; some may miss it."""
        arrays = self.arrays
        pairs, steps = int(arrays.pair_at[-1]), kernels.side_by_side.STEPS_OF_ONE
        solved = ManyTrees(
            np.empty(int(arrays.cell_at[-1]), np.uint16),
            np.zeros(pairs, np.uint16),
            np.empty(pairs),
            np.empty(pairs),
            np.empty((self.size, steps)),
            np.empty(self.size, np.int64),
        )
        nodes = np.arange(2**SHIFT + 1)
        pivot_tol = PIVOT_TOL * (1.0 + nodes[: self._most_nodes + 1] / PIVOT_TOL_NODES)

        def work(first: int, last: int) -> None:
            kernels.side_by_side.solve(
                first, last, arrays, self.discount, pivot_tol, goal, SHIFT, solved.code, solved.used, solved.value,
                solved.estimate, solved.gaps, solved.steps,
            )  # fmt: skip

        for_each_block(work, self.size, largest=PROBLEMS_AT_ONCE, serial_below=PROBLEMS_AT_ONCE)
        return solved

    @cached_property
    def _most_nodes(self) -> int:
        """Of a tree: the most successors of two states."""
        return 2 * int(np.diff(self.arrays.chains.indptr).max())

    @cached_property
    def rows_of_pairs(self) -> tuple[Ints, Ints]:
        """[pairs] each, where the source row and the target row of every pair begin in `arrays.chains.indptr`."""
        arrays, states = self.arrays, np.diff(self.arrays.chains.state_at)
        first = arrays.chains.state_at[:-1] + np.arange(len(states))
        inside = np.arange(arrays.pair_at[-1]) - np.repeat(arrays.pair_at[:-1], self.counts)
        x, y = np.divmod(inside, np.repeat(states[arrays.target], self.counts))
        x += np.repeat(first[arrays.source], self.counts)
        y += np.repeat(first[arrays.target], self.counts)
        return x, y

    def cells(self, solved: ManyTrees) -> Cells:
        """The couplings and potentials of all pairs, read from their trees."""
        arrays, (_, y) = self.arrays, self.rows_of_pairs
        indptr, start = (
            offsets(solved.used.astype(np.int64)),
            offsets(arrays.chains.indptr[y + 1] - arrays.chains.indptr[y]),
        )
        total = int(indptr[-1])
        cells = Cells(
            indptr, np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total), start,
            np.empty(int(start[-1])),
        )  # fmt: skip

        def work(first: int, last: int) -> None:
            kernels.side_by_side.read_trees(first, last, arrays, solved.value, solved.code, SHIFT, solved.used, cells)

        for_each_block(work, self.size, largest=PROBLEMS_AT_ONCE, serial_below=PROBLEMS_AT_ONCE)
        return cells

    def witness(self, k: int, problem: Problem, solved: ManyTrees) -> TreeWitness:
        """The couplings and potentials of problem number k."""
        arrays = self.arrays
        here = slice(arrays.pair_at[k], arrays.pair_at[k + 1])
        bellman = Bellman.of(problem)
        rows = bellman.shape[1] * (bellman.sizes[0] - 1) + bellman.target.indptr[-1]
        trees = Trees(
            offsets(rows)[:-1].copy(), solved.code[arrays.cell_at[k] : arrays.cell_at[k + 1]], SHIFT, solved.used[here],
            np.empty(0, np.int32), np.empty(0),
        )  # fmt: skip
        return TreeWitness(bellman, solved.value[here].reshape(bellman.shape), trees, everywhere=True)


def scales(cost: Floats, pair_at: Ints) -> Floats:
    """[problems], the powers of two that bring the largest cost of each, which is positive, into [1, 2)."""
    largest = np.maximum.reduceat(cost, pair_at[:-1])
    found: Floats = np.ldexp(1.0, np.minimum(1 - np.frexp(largest)[1], 1022))
    return found


def _mirror(parts: Sequence[Problem], pair_at: Ints) -> Ints:
    """Where V is the same for sure, of one chain against itself."""
    symmetric = [k for k, part in enumerate(parts) if part.source is part.target and is_symmetric(part)]
    if not symmetric:
        return np.empty(0, np.int64)
    mirror = np.arange(pair_at[-1])
    for k in symmetric:
        own = mirror[pair_at[k] : pair_at[k + 1]].reshape(parts[k].shape)
        own[:] = own.T.copy()
    return mirror


def _stops(parts: Sequence[Problem], counts: Ints) -> Mask:
    """[pairs], where the problems stop; empty if none does."""
    stops = [part.stop for part in parts]
    if all(stop is None for stop in stops):
        return np.zeros(0, np.bool_)
    return np.concatenate(
        [np.zeros(count, np.bool_) if stop is None else stop for stop, count in zip(stops, counts, strict=True)],
        axis=None,
    )
