"""The checking kernels: also run as plain Python and with bounds checks (.ci/run)."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.kernels.layout import Report
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness, new_trees
from tests import reference

pytestmark = pytest.mark.kernels


class Case:
    """A 3×2 problem with optimal couplings and potentials for a value."""

    def __init__(self, stop=None):
        random = np.random.default_rng(8)
        source = bm.MarkovChain(random.dirichlet(np.ones(3), 3))
        target = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]])
        self.problem = bm.Problem(source, target, discount=0.5, cost=random.random((3, 2)), stop=stop)
        self.bellman = Bellman.of(self.problem)
        self.value = random.random((3, 2)) + 1.0
        trees = new_trees(self.bellman)
        self.bellman.improve(self.value, trees, cold=True)
        self.cells = TreeWitness(self.bellman, self.value, trees).cells(0, 6)

    def check(self, cells=None, first=0, last=6):
        """upper, lower and report of the kernel."""
        b = self.bellman
        upper, lower = np.full(6, np.nan), np.full(6, np.nan)
        found = kernels.check.check(
            *b.pairs.states(first, last), self.value, b.cost, b.scale, b.discount, b.stop, b.source, b.target,
            self.cells if cells is None else cells, upper[first:last], lower[first:last],
        )  # fmt: skip
        return upper.reshape(3, 2), lower.reshape(3, 2), Report(*found)

    def changed(self, name, position, new):
        """The cells with one number replaced."""
        array = getattr(self.cells, name).copy()
        array[position] = new
        return self.cells._replace(**{name: array})


def test_optimal_witnesses_are_tight():
    """U = L = T V for optimal couplings and potentials, with exact marginals and the right report."""
    case = Case()
    upper, lower, report = case.check()
    b, p = case.bellman, case.problem
    scaled = bm.Problem(p.source, p.target, discount=p.discount, cost=b.scaled_cost())
    truth = reference.bellman(scaled, case.value)
    np.testing.assert_allclose(upper, truth, atol=1e-10)
    np.testing.assert_allclose(lower, truth, atol=1e-10)
    assert report.lowest == pytest.approx((truth - case.value).min(), abs=1e-10)
    assert report.highest == pytest.approx((truth - case.value).max(), abs=1e-10)
    assert report.marginal_error == 0.0
    assert report.invalid == 0
    assert report.terms == 5
    assert report.potential >= np.abs(case.cells.potential).max()


def test_any_potential_gives_a_lower_bound():
    """f is made from g by c-transform, so a wrong g lowers L and never lifts it."""
    case = Case()
    _, best, _ = case.check()
    for position in range(len(case.cells.potential)):
        for new in (-7.0, 0.0, 3.0, 1e6):
            _, lower, report = case.check(case.changed("potential", position, new))
            assert report.invalid == 0
            assert (lower <= best + 1e-12 * max(1.0, abs(new))).all()


def test_any_coupling_gives_an_upper_bound():
    """Moving mass around a cycle keeps the marginals and lifts U, if it changes it."""
    case = Case()
    best, _, _ = case.check()
    b = case.bellman
    left, right, weight, indptr = [], [], [], [0]
    for pair in range(6):
        x, y = divmod(pair, 2)
        p = b.source.data[b.source.indptr[x] : b.source.indptr[x + 1]]
        q = b.target.data[b.target.indptr[y] : b.target.indptr[y + 1]]
        for i in range(3):
            for j in range(2):
                left.append(i)
                right.append(j)
                weight.append(p[i] * q[j])
        indptr.append(len(left))
    independent = case.cells._replace(
        indptr=np.array(indptr),
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        weight=np.array(weight),
    )
    upper, _, report = case.check(independent)
    assert (upper >= best - 1e-12).all()
    assert report.marginal_error < 1e-15
    assert report.terms == 6


@pytest.mark.parametrize(
    ("name", "new"),
    [("left", 3), ("left", -1), ("right", 2), ("right", -1), ("weight", -1e-9), ("weight", np.nan)],
)
def test_impossible_cells_are_counted(name, new):
    """Cells outside the supports and mass that is negative or no number; nothing is read out of range."""
    case = Case()
    for position in (0, len(case.cells.left) - 1):
        assert case.check(case.changed(name, position, new))[2].invalid == 1


@pytest.mark.parametrize("new", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_impossible_potentials_are_counted(new):
    """Potentials that are no finite numbers."""
    case = Case()
    assert case.check(case.changed("potential", 4, new))[2].invalid >= 1


@pytest.mark.parametrize("change", [1e-3, -1e-3, 2.0**-40, -(2.0**-40)])
def test_wrong_marginals_are_measured(change):
    """A cell with a little more or less shows in its row and in its column."""
    case = Case()
    for position in (0, len(case.cells.weight) - 1):
        cells = case.changed("weight", position, case.cells.weight[position] + change)
        report = case.check(cells)[2]
        assert report.marginal_error == pytest.approx(2 * abs(change), rel=1e-3)
        assert report.invalid == 0


def test_ranges():
    """Any range of pairs gives the same bounds as the whole, and leaves the others alone."""
    case = Case()
    upper, lower, _ = case.check()
    for first, last in ((0, 1), (1, 5), (5, 6)):
        a, b = case.cells.indptr[first], case.cells.indptr[last]
        c, d = case.cells.start[first], case.cells.start[last]
        part = case.cells._replace(
            indptr=case.cells.indptr[first : last + 1] - a,
            left=case.cells.left[a:b],
            right=case.cells.right[a:b],
            weight=case.cells.weight[a:b],
            start=case.cells.start[first : last + 1] - c,
            potential=case.cells.potential[c:d],
        )
        some_upper, some_lower, report = case.check(part, first, last)
        assert np.array_equal(some_upper.ravel()[first:last], upper.ravel()[first:last])
        assert np.array_equal(some_lower.ravel()[first:last], lower.ravel()[first:last])
        assert np.isnan(np.delete(some_upper.ravel(), np.s_[first:last])).all()
        assert report.highest == (some_upper - case.value).ravel()[first:last].max()


def test_stopped_pairs_are_what_they_cost():
    """U = L = c where the game stops."""
    stop = np.array([[True, False], [False, False], [True, True]])
    case = Case(stop)
    upper, lower, report = case.check()
    cost = case.bellman.scaled_cost()
    assert np.array_equal(upper[stop], cost[stop])
    assert np.array_equal(lower[stop], cost[stop])
    assert report.highest == (upper - case.value).max()
    assert report.lowest == (lower - case.value).min()


@pytest.mark.parametrize("seed", range(8))
def test_reachability(seed):
    """lead_outside finds exactly the nodes from which the outside can be reached."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 12))
    counts = random.integers(0, 3, size)
    heads = random.integers(0, size + 1, counts.sum()).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    reach = np.zeros(size + 1, bool)
    reach[size] = True
    for _ in range(size):
        for k in range(size):
            reach[k] |= reach[heads[indptr[k] : indptr[k + 1]]].any()
    reached = np.ones(size, np.bool_)
    kernels.check.lead_outside(indptr, heads, reached)
    assert np.array_equal(reached, reach[:size])
