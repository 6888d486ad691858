"""Laws of derivatives: finite differences, concavity in the cost, scaling, exchange of the chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bisimetric as bm
from tests import strategies
from tests.derivatives import assert_derivative, direction, parts_of, points, solved


@given(points(), st.booleans())
def test_finite_differences(point, normalised):
    """By everything, along feasible directions, at points where no two optima tie."""
    point, random = point
    gradient = solved(point, normalised=normalised).gradient()
    assume(gradient.is_unique)
    for name, derivative in parts_of(gradient).items():
        change = direction(np.asarray(point[name]), random, law=name in "PQab")
        assert_derivative(
            point, name, change * 0.01 if name == "discount" else change, derivative, normalised=normalised
        )


@given(points(), st.booleans())
def test_costs_of_any_kind(point, normalised):
    """By the cost as it was given, with pairs that stop too."""
    point, random = point
    shape = len(point["P"]), len(point["Q"])
    point["cost"] = random.random(shape)
    stop = random.random(shape) < 0.2
    gradient = solved(point, normalised=normalised, stop=stop).gradient()
    assert gradient.source_reward is None
    assert gradient.target_reward is None
    value = solved(point, normalised=normalised, stop=stop).distance
    assert (gradient.cost * point["cost"]).sum() == pytest.approx(value, rel=1e-9)
    assume(gradient.is_unique)
    options = {"normalised": normalised, "stop": stop}
    assert_derivative(point, "cost", random.normal(size=shape), gradient.cost, **options)
    for name in ("P", "Q"):
        change = direction(point[name], random, law=True)
        assert_derivative(point, name, change, parts_of(gradient)[name], **options)


def test_most_points_are_in_general_position():
    """So that the finite differences above are not skipped."""
    random = np.random.default_rng(0)
    unique = []
    for _ in range(20):
        shape = [random.dirichlet(np.ones(4), 4) for _ in range(2)]
        cost = random.random((4, 4))
        chains = [bm.MarkovChain(matrix, start=random.dirichlet(np.ones(4))) for matrix in shape]
        unique.append(bm.distance(*chains, cost=cost, discount=0.9).gradient().is_unique)
    assert sum(unique) >= 18


@given(strategies.problems(max_states=4, start=True, gammas=strategies.tame_discounts, scale=st.just(1.0)), st.data())
def test_a_supergradient_by_the_cost_everywhere(problem, data):
    """At kinks too: W(c') ≤ W(c) + <g, c' - c> + error, for every cost c'; rows have mean zero on the supports."""
    solution = bm.solve(problem)
    gradient = solution.gradient()
    other = data.draw(strategies.base_costs(*problem.shape))
    elsewhere = bm.solve(
        bm.Problem(problem.source, problem.target, discount=problem.discount, cost=other, stop=problem.stop)
    )
    bound = solution.distance + (gradient.cost * (other - problem.cost)).sum() + gradient.error
    assert elsewhere.interval[0] <= bound + 1e-9 * (1 + bound)
    for part, chain in ((gradient.source, problem.source), (gradient.target, problem.target)):
        assert np.array_equal(part.indices, chain.transitions.indices)
        assert np.array_equal(part.indptr, chain.transitions.indptr)
        largest = np.abs(part.data).max(initial=0.0)
        np.testing.assert_allclose(np.asarray(part.sum(axis=1)).ravel(), 0.0, atol=1e-12 * (1 + largest))


@given(points(sizes=(2, 4)))
def test_scaling(point):
    """Derivatives by the cost do not change when it is multiplied; all others are multiplied too."""
    point, random = point
    point["cost"] = random.random((len(point["P"]), len(point["Q"])))
    before = solved(point).gradient()
    after = solved(point | {"cost": 2.0**60 * point["cost"]}).gradient()
    np.testing.assert_allclose(after.cost, before.cost, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(after.source.data, 2.0**60 * before.source.data, rtol=1e-9)
    assert after.discount == pytest.approx(2.0**60 * before.discount)


@given(points(sizes=(2, 4)))
def test_swapping_the_chains(point):
    """Swaps the two sides."""
    point, random = point
    point["cost"] = random.random((len(point["P"]), len(point["Q"])))
    here = solved(point).gradient()
    assume(here.is_unique)
    swapped = {"P": "Q", "Q": "P", "r": "q", "q": "r", "a": "b", "b": "a"}
    there = solved({swapped.get(name, name): value for name, value in point.items()} | {"cost": point["cost"].T})
    there = there.gradient()
    np.testing.assert_allclose(here.cost, there.cost.T, atol=1e-9 * here.cost.max())
    np.testing.assert_allclose(here.source.data, there.target.data, atol=1e-8 * (1 + np.abs(here.source.data).max()))
