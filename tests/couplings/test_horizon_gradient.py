"""Derivatives over a finite horizon against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import bisimetric as bm
from tests.derivatives import CLOSE, STEP, direction, points

HORIZON = 4


def solved(point, terminal, cost=None):
    """The solution at a point."""
    source = bm.MarkovChain(point["P"], reward=point["r"], start=point["a"])
    target = bm.MarkovChain(point["Q"], reward=point["q"], start=point["b"])
    problem = bm.HorizonProblem(
        source, target, horizon=HORIZON, discount=point["discount"], terminal=terminal, cost=cost
    )
    return bm.solve(problem, tol=1e-13, throw=False)


@settings(max_examples=6)
@given(points(gammas=(0.5, 0.9, 0.99)))
def test_derivatives_are_finite_differences(drawn):
    """By kernels, rewards, starts, the discount and the costs of single times."""
    point, random = drawn
    terminal = random.random((len(point["P"]), len(point["Q"])))
    solution = solved(point, terminal)
    gradient = solution.gradient()
    if not gradient.is_unique:
        return
    parts = {
        "P": gradient.source.toarray(), "Q": gradient.target.toarray(), "r": gradient.source_reward,
        "q": gradient.target_reward, "a": gradient.source_start, "b": gradient.target_start,
        "discount": gradient.discount,
    }  # fmt: skip
    for name, derivative in parts.items():
        change = direction(np.asarray(point[name], float), random, law=name in "PQab")
        ahead, behind = (
            solved(point | {name: point[name] + sign * STEP * change}, terminal).distance for sign in (1, -1)
        )
        terms = np.asarray(derivative) * change
        rounding = 1e-13 * (abs(ahead) + 1) / STEP
        expected = pytest.approx(terms.sum(), abs=CLOSE * np.abs(terms).sum() + rounding)
        assert (ahead - behind) / (2 * STEP) == expected, name
    paid = (gradient.costs * solution.problem.costs).sum() + (gradient.terminal * terminal).sum()
    assert paid == pytest.approx(solution.distance, rel=1e-12)
    np.testing.assert_allclose(gradient.costs.sum(axis=0), gradient.cost)
    assert gradient.error <= 1e-10


def test_steps_have_their_own_derivatives():
    """Of chains that change, step by step; `source` belongs to the chain of the first step alone."""
    random = np.random.default_rng(3)
    kernels = [random.dirichlet(np.ones(3), 3) for _ in range(3)]
    target = bm.MarkovChain(random.dirichlet(np.ones(2), 2), start=0)
    costs = random.random((3, 3, 2))

    def distance(kernels, costs=costs):
        chains = [bm.MarkovChain(kernels[0], start=1), *kernels[1:]]
        return bm.solve(bm.HorizonProblem(chains, target, horizon=3, cost=costs))

    gradient = distance(kernels).gradient()
    assert gradient.source_reward is None
    np.testing.assert_array_equal(gradient.source.toarray(), gradient.sources[0].toarray())
    for time in range(3):
        change = direction(kernels[time], random, law=True)
        moved = [
            [kernel + sign * STEP * change if t == time else kernel for t, kernel in enumerate(kernels)]
            for sign in (1, -1)
        ]
        ahead, behind = (distance(kernels).distance for kernels in moved)
        expected = (gradient.sources[time].toarray() * change).sum()
        assert (ahead - behind) / (2 * STEP) == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_it_is_the_discounted_one_for_long_horizons():
    """What comes late does not count."""
    random = np.random.default_rng(5)
    source, target = (bm.MarkovChain(random.dirichlet(np.ones(n), n), start=0) for n in (3, 4))
    cost = random.random((3, 4))
    long = bm.solve(bm.HorizonProblem(source, target, horizon=120, discount=0.8, cost=cost)).gradient()
    forever = bm.distance(source, target, discount=0.8, cost=cost).gradient()
    np.testing.assert_allclose(long.cost, forever.cost, atol=1e-8)
    np.testing.assert_allclose(long.source.toarray(), forever.source.toarray(), atol=1e-8)
    assert long.discount == pytest.approx(forever.discount, rel=1e-6)


def test_what_is_missing_is_said():
    """Starts, and the values of all times."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    problem = bm.HorizonProblem(chain, chain, horizon=3)
    with pytest.raises(bm.errors.MissingStart, match="with_start"):
        bm.solve(problem).gradient()
    assert bm.solve(problem).gradient(start=(0, 1)).cost[0, 1] > 0
    with pytest.raises(bm.errors.InvalidOption, match="keep_steps"):
        bm.solve(problem, bm.solvers.BackwardInduction(keep_steps=False)).gradient(start=(0, 1))
