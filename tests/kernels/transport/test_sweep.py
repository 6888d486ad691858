"""Transport kernels on a fixed small set: also run as plain Python and with bounds checks (.ci/run)."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.kernels.layout import FEW_CELLS
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness, new_trees
from tests import reference

pytestmark = pytest.mark.kernels

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

    def improve(self, value, *, cold, first=0, last=None):
        """Residuals and report of one call of the kernel."""
        b = self.bellman
        last = value.size if last is None else last
        residual = np.full(value.size, np.nan)
        tol = np.full(len(b.source.data) + len(b.target.data) + 2, 1e-14 * np.abs(value).max())
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


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def instance(request):
    """Each of the fixed problems."""
    return Instance(*request.param)


def values(shape):
    """Values to price: a smooth one, one without structure, one with ties, one that is constant."""
    random = np.random.default_rng(3)
    yield np.add.outer(np.arange(shape[0]), np.arange(shape[1])).astype(float) + 1.0
    yield random.random(shape)
    yield random.integers(0, 3, shape).astype(float)
    yield np.full(shape, 2.5)


def test_cold_sweeps_are_optimal(instance):
    """T V - V from new trees equals linear programs, for any value; the trees are sound."""
    for value in values(instance.bellman.shape):
        residual, report = instance.improve(value, cold=True)
        np.testing.assert_allclose(residual, instance.expected(value), atol=1e-9)
        assert report[LOWEST] == pytest.approx(residual.min(), abs=1e-12)
        assert report[HIGHEST] == residual.max()
        instance.check_trees()


def test_warm_sweeps_are_optimal(instance):
    """The same from the trees of another value, again and again; at the same value no pivot is left."""
    sequence = list(values(instance.bellman.shape))
    instance.improve(sequence[0], cold=True)
    for value in (*sequence[1:], sequence[0], -sequence[1] + 5.0):
        residual, _ = instance.improve(value, cold=False)
        np.testing.assert_allclose(residual, instance.expected(value), atol=1e-9)
        instance.check_trees()
        again, report = instance.improve(value, cold=False)
        np.testing.assert_allclose(again, residual, atol=1e-12)
        assert report[PIVOTS] == 0


def test_trees_read_back_are_couplings_and_potentials(instance):
    """read_trees gives exact marginals, and potentials that are feasible and tight where mass moves."""
    b, shape = instance.bellman, instance.bellman.shape
    value = list(values(shape))[1]
    instance.improve(value, cold=True)
    cells = TreeWitness(b, value, instance.trees).cells(0, value.size)
    for pair in range(value.size):
        x, y = divmod(pair, shape[1])
        xs = b.source.indices[b.source.indptr[x] : b.source.indptr[x + 1]]
        ys = b.target.indices[b.target.indptr[y] : b.target.indptr[y + 1]]
        inside = slice(cells.indptr[pair], cells.indptr[pair + 1])
        plan = np.zeros((len(xs), len(ys)))
        plan[cells.left[inside], cells.right[inside]] = cells.weight[inside]
        assert np.array_equal(plan.sum(axis=1), b.source.data[b.source.indptr[x] : b.source.indptr[x + 1]])
        assert np.array_equal(plan.sum(axis=0), b.target.data[b.target.indptr[y] : b.target.indptr[y + 1]])
        assert (cells.weight[inside] > 0).all()
        g = cells.potential[cells.start[pair] : cells.start[pair + 1]]
        local = value[np.ix_(xs, ys)]
        f = (local - g).min(axis=1)
        assert np.abs((local - f[:, None] - g)[plan > 0]).max() <= 1e-12


def test_stopped_pairs_are_left_alone():
    """No transport where the game stops: the residual is c - V, no cells, no potentials."""
    stop = np.array([[True, False], [False, True]])
    instance = Instance(uniform(2, 2), random_matrix(2, 1), stop)
    value = np.array([[1.0, 2.0], [3.0, 4.0]])
    residual, report = instance.improve(value, cold=True)
    np.testing.assert_allclose(residual, instance.expected(value), atol=1e-12)
    instance.check_trees()
    assert report[LOWEST] <= residual.min()
    cells = TreeWitness(instance.bellman, value, instance.trees).cells(0, 4)
    assert np.diff(cells.indptr).tolist()[::3] == [0, 0]
    assert not cells.potential[:2].any()


def test_copied_trees_are_as_good_as_new_ones():
    """Starting from the tree of a pair with the same probabilities gives the same transport, after fewer pivots."""
    value = list(values((5, 5)))[1]
    copied, fresh = (Instance(uniform(5, 3), uniform(5, 3)) for _ in range(2))
    one, report = copied.improve(value, cold=True)
    alone = [fresh.improve(value, cold=True, first=k, last=k + 1) for k in range(value.size)]
    other = np.nanmax([residual for residual, _ in alone], axis=0)
    np.testing.assert_allclose(one, other, atol=1e-12)
    assert report[PIVOTS] < sum(each[PIVOTS] for _, each in alone)
    copied.check_trees()


def test_ranges_touch_nothing_else():
    """A call on a range of pairs writes the residuals of that range only, whatever the cut."""
    P, Q = SMALL_CASES["no structure"]
    whole, parts = Instance(P, Q), Instance(P, Q)
    value = list(values((5, 4)))[1]
    expected, _ = whole.improve(value, cold=True)
    for first, last in ((0, 3), (3, 4), (4, 13), (13, 20)):
        residual, report = parts.improve(value, cold=True, first=first, last=last)
        assert np.isnan(np.delete(residual.ravel(), np.s_[first:last])).all()
        np.testing.assert_allclose(residual.ravel()[first:last], expected.ravel()[first:last], atol=1e-12)
        assert report[HIGHEST] == np.nanmax(residual)


def test_more_nodes_than_a_byte_holds():
    """Supports of 130 and 140 states need wide node numbers."""
    random = np.random.default_rng(4)
    instance = Instance(crowded(random.dirichlet(np.ones(130))), crowded(random.dirichlet(np.ones(140))))
    assert instance.trees.shift == 16
    value = random.random((130, 140))
    residual, _ = instance.improve(value, cold=True, first=0, last=1)
    b = instance.bellman
    P, Q = (chain.transitions.toarray()[0] for chain in (instance.problem.source, instance.problem.target))
    expected = b.scaled_cost()[0, 0] + 0.75 * reference.transport(P, Q, value) - value[0, 0]
    assert residual[0, 0] == pytest.approx(expected, abs=1e-9)
    flows = instance.flows(0, 0)
    assert min(flows) >= 0.0
    cells = TreeWitness(b, value, instance.trees).cells(0, 1)
    assert np.array_equal(np.bincount(cells.left, cells.weight, 130), P)
    assert np.array_equal(np.bincount(cells.right, cells.weight, 140), Q)


def test_both_ways_of_pricing_are_covered():
    """The cases lie on both sides of the size at which pricing changes."""
    sizes = [np.count_nonzero(P[0]) * np.count_nonzero(Q[0]) for P, Q in CASES.values()]
    assert min(sizes) < FEW_CELLS < max(sizes)
    assert all(np.count_nonzero(P[0]) * np.count_nonzero(Q[0]) > FEW_CELLS for P, Q in LARGE_CASES.values())
