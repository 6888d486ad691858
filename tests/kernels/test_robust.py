"""Rows within radii, one application: against linear programs; also run as plain Python and with bounds checks."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates import robust
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness, new_trees
from tests.reference.robust import least_transport, most_gained

pytestmark = pytest.mark.kernels


class Case:
    """A 4×3 problem with sparse rows, a value, and radii of which some are zero and one is everything."""

    def __init__(self, seed, stop=None):
        random = np.random.default_rng(seed)
        P, Q = random.dirichlet(np.ones(4), 4), random.dirichlet(np.ones(3), 3)
        P[0] = [1.0, 0.0, 0.0, 0.0]
        P[1] = [0.5, 0.0, 0.5, 0.0]
        Q[2] = [0.0, 0.25, 0.75]
        source, target = bm.MarkovChain(P), bm.MarkovChain(Q)
        self.problem = bm.Problem(source, target, discount=0.75, cost=random.random((4, 3)) + 0.5, stop=stop)
        self.bellman = Bellman.of(self.problem)
        self.value = random.random((4, 3)) * 4.0
        self.radii = robust.Radii(np.array([0.0, 0.1, 1.0, 0.3]), np.array([0.2, 0.0, 0.05]))
        trees = new_trees(self.bellman)
        self.bellman.improve(self.value, trees, cold=True)
        self.witness = TreeWitness(self.bellman, self.value, trees)

    def apply(self, kernel):
        return kernel(self.bellman, self.radii, self.value, self.witness)

    def each(self, optimum):
        """c + γ·optimum(x, y) at all pairs, in the operator's scale."""
        future = [[optimum(x, y) for y in range(3)] for x in range(4)]
        return self.bellman.scaled_cost() + self.problem.discount * np.array(future)

    def plan(self, x, y):
        plan = np.zeros((4, 3))
        cells = self.witness.cells(3 * x + y, 3 * x + y + 1)
        source, target = self.problem.source.successors(x), self.problem.target.successors(y)
        plan[source[cells.left], target[cells.right]] = cells.weight
        return plan


def linear_form(case, found):
    """c + γ(matrix·V + constant)."""
    future = (found.matrix @ case.value.ravel() + found.constant).reshape(4, 3)
    return case.bellman.scaled_cost() + case.problem.discount * future


@pytest.mark.parametrize("seed", range(4))
def test_above_is_the_best_of_all_moves(seed):
    """Never below the linear program's optimum, close to it, and equal to its linear form."""
    case = Case(seed)
    found = case.apply(robust._apply_above)
    truth = case.each(
        lambda x, y: (
            (case.plan(x, y) * case.value).sum()
            + most_gained(case.plan(x, y), case.radii.source[x], case.radii.target[y], case.value)
        )
    )
    assert (found.bound >= truth - 1e-9).all()
    np.testing.assert_allclose(found.bound, truth, rtol=0.03)
    np.testing.assert_allclose(linear_form(case, found), found.bound, rtol=1e-12)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_below_is_under_every_transport_within_the_radii(seed):
    """Never above the linear program's optimum, never under the smallest value, and equal to its linear form."""
    case = Case(seed)
    found = case.apply(robust._apply_below)
    P, Q = (chain.transitions.toarray() for chain in (case.problem.source, case.problem.target))
    truth = case.each(lambda x, y: least_transport(P[x], Q[y], case.radii.source[x], case.radii.target[y], case.value))
    assert (found.bound <= truth + 1e-9).all()
    assert (found.bound >= case.each(lambda x, y: case.value.min()) - 1e-12).all()
    np.testing.assert_allclose(found.bound, truth, rtol=0.15)
    np.testing.assert_allclose(linear_form(case, found), found.bound, rtol=1e-12)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1.0)


def test_without_radii_both_are_the_operator():
    """U = L = T V for optimal couplings and potentials."""
    case = Case(7)
    case.radii = robust.Radii(np.zeros(4), np.zeros(3))
    above, below = case.apply(robust._apply_above), case.apply(robust._apply_below)
    np.testing.assert_allclose(above.bound, below.bound, rtol=1e-12)
    np.testing.assert_allclose(linear_form(case, above), above.bound, rtol=1e-12)


def test_stops_cost_what_they_cost():
    """At a stop the bound is the cost, and there is no linear form."""
    stop = np.zeros((4, 3), bool)
    stop[1, 1] = stop[2, 0] = True
    case = Case(3, stop)
    for kernel in (robust._apply_above, robust._apply_below):
        found = case.apply(kernel)
        np.testing.assert_array_equal(found.bound[stop], case.bellman.scaled_cost()[stop])
        assert np.diff(found.matrix.indptr).reshape(4, 3)[stop].tolist() == [0, 0]


def test_cells_that_are_none_are_refused():
    """A coupling with negative mass proves nothing."""
    case = Case(5)
    cells = case.witness.cells(0, 12)

    class Forged:
        cells_per_pair = 7

        def cells(self, first, last):
            weight = cells.weight.copy()
            weight[2] = -weight[2]
            return cells._replace(weight=weight)

    case.witness = Forged()
    with pytest.raises(bm.errors.InvalidWitness):
        case.apply(robust._apply_above)
