"""Transport problems in kernel form, with linear programs to compare with."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric import kernels
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import new_trees
from tests import reference

LOWEST, HIGHEST, PIVOTS = range(3)


def uniform(n, k):
    """Row x is uniform on the k states after x: every flow is a tie."""
    matrix = np.zeros((n, n))
    for x in range(n):
        matrix[x, (x + np.arange(k)) % n] = 1.0 / k
    return matrix


def random_matrix(n, seed, concentration=1.0):
    """Rows from a Dirichlet law."""
    return np.random.default_rng(seed).dirichlet(np.full(n, concentration), n)


def crowded(row):
    """The first state moves by `row`, the others stay."""
    matrix = np.eye(len(row))
    matrix[0] = row
    return matrix


def rolled(row):
    """Every state moves by the same law, turned by one more place."""
    return np.array([np.roll(row, k) for k in range(len(row))])


COUNTS = np.array([[1, 1, 2, 0], [2, 2, 0, 0], [1, 1, 1, 1], [0, 0, 0, 4]]) / 4

SMALL_CASES = {
    "one state": (np.eye(1), np.eye(1)),
    "one against three": (np.eye(1), random_matrix(3, 0)),
    "three against one": (random_matrix(3, 0), np.eye(1)),
    "permutations": (np.roll(np.eye(4), 1, axis=1), np.eye(3)[[1, 2, 0]]),
    "ties": (uniform(4, 2), uniform(4, 4)),
    "the same ties": (uniform(5, 3), uniform(5, 3)),
    "sums that meet": (COUNTS, COUNTS[::-1]),
    "thirds and quarters": (uniform(4, 3), uniform(4, 4)),
    "no structure": (random_matrix(5, 1), random_matrix(4, 2)),
    "nearly deterministic": (random_matrix(5, 3, 0.05), random_matrix(5, 4, 0.05)),
    "tiny": (np.array([[1 - 1e-12, 1e-12], [1e-12, 1 - 1e-12]]), random_matrix(2, 5)),
}
random = np.random.default_rng(9)
LARGE_CASES = {
    "dense": (crowded(random.dirichlet(np.ones(12))), crowded(random.dirichlet(np.ones(9)))),
    "assignment": (crowded(np.full(10, 0.1)), crowded(np.full(10, 0.1))),
    "ties": (crowded(np.full(12, 1 / 12)), crowded(np.full(8, 1 / 8))),
    "repeated sums": (crowded(np.repeat([1, 2, 4], 4) / 28), crowded(np.tile([1, 2, 4], 4) / 28)),
    "the same successors": (random_matrix(9, 6), random_matrix(8, 7)),
    "the same successors, ties": (rolled(np.repeat([1, 2, 4], 3) / 21), rolled(np.tile([1, 2, 4, 8], 2) / 30)),
    "the same successors, far apart": (random_matrix(9, 8, 0.3), random_matrix(9, 9, 0.3)),
    "two sets of successors": (np.kron(np.eye(2), random_matrix(9, 10)), random_matrix(8, 11)),
}
CASES = {**SMALL_CASES, **{f"large, {name}": case for name, case in LARGE_CASES.items()}}


class Instance:
    """A problem in kernel form, with the trees of its pairs."""

    def __init__(self, P, Q, stop=None):
        n, m = len(P), len(Q)
        self.problem = bm.Problem(
            bm.MarkovChain(P),
            bm.MarkovChain(Q),
            discount=0.75,
            cost=np.random.default_rng(n + 10 * m).random((n, m)),
            stop=stop,
        )
        self.bellman = Bellman.of(self.problem)
        self.trees = new_trees(self.bellman)

    def improve(self, value, *, cold, first=0, last=None, tol=None):
        """Residuals and report of one call of the kernel; the pivot tolerance is that of rounding unless given."""
        b = self.bellman
        last = value.size if last is None else last
        residual = np.full(value.size, np.nan)
        size = len(b.source.data) + len(b.target.data) + 2
        tol = np.full(size, 1e-14 * np.abs(value).max() if tol is None else tol)
        report = kernels.transport.sweep.improve(
            first, last, value, b.cost, b.scale, b.discount, b.stop, b.source, b.target,
            b.pairs.listed, self.trees, residual, tol, cold,
        )  # fmt: skip
        return residual.reshape(b.shape), report

    def expected(self, value):
        """T V - V by linear programs, in the operator's scale."""
        b, p = self.bellman, self.problem
        scaled = bm.Problem(p.source, p.target, discount=p.discount, cost=b.scaled_cost(), stop=p.stop)
        return reference.bellman(scaled, value) - value

    def arcs(self, x, y):
        """(child, parent) of the tree of a pair, in order, with the sizes of the two supports."""
        b, trees = self.bellman, self.trees
        sx, sy = (int(np.diff(rows.indptr)[k]) for rows, k in ((b.source, x), (b.target, y)))
        at = int(trees.offset[x]) + y * (sx - 1) + int(b.target.indptr[y])
        codes = [int(code) for code in trees.code[at : at + sx + sy - 1]]
        return [(code >> trees.shift, code & ((1 << trees.shift) - 1)) for code in codes], sx, sy

    def flows(self, x, y):
        """Flow on each arc of the tree of a pair, by leaf elimination."""
        arcs, sx, _ = self.arcs(x, y)
        b = self.bellman
        rows = b.source.data[b.source.indptr[x] : b.source.indptr[x + 1]]
        columns = b.target.data[b.target.indptr[y] : b.target.indptr[y + 1]]
        excess = np.concatenate([rows, -columns])
        flows = []
        for child, parent in reversed(arcs):
            flows.append(excess[child] if child < sx else -excess[child])
            excess[parent] += excess[child]
        assert excess[0] == 0.0
        return flows[::-1]

    def check_trees(self):
        """Every tree spans its nodes from the root, parents first, and is strongly feasible."""
        n, m = self.bellman.shape
        for x in range(n):
            for y in range(m):
                if self.bellman.stop.size and self.bellman.stop[x, y]:
                    continue
                arcs, sx, sy = self.arcs(x, y)
                known = {0}
                for child, parent in arcs:
                    assert parent in known
                    assert child not in known
                    assert (child < sx) != (parent < sx)
                    known.add(child)
                assert known == set(range(sx + sy))
                for (child, _), flow in zip(arcs, self.flows(x, y), strict=True):
                    assert flow >= 0.0
                    assert flow > 0.0 or child < sx, "an arc without flow must have a source node as its child"
                assert self.trees.used[x * m + y] == sum(flow > 0 for flow in self.flows(x, y))


def values(shape):
    """Values to price: a smooth one, one without structure, one with ties, one that is constant."""
    random = np.random.default_rng(3)
    yield np.add.outer(np.arange(shape[0]), np.arange(shape[1])).astype(float) + 1.0
    yield random.random(shape)
    yield random.integers(0, 3, shape).astype(float)
    yield np.full(shape, 2.5)
