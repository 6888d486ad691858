"""The two entropic baselines: what they converge to, warm starts, options."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.operators.bellman import Bellman
from tests import reference

ROOMS = bm.Problem(bm.environments.small_four_rooms("a"), bm.environments.small_four_rooms("b"), discount=0.9)


def test_sharp_transports_are_exact_ones():
    """With little smoothing and enough projections both come within a small fraction of the distance."""
    exact = bm.solve(ROOMS).value
    for solver in (
        bm.EntropicPolicyIteration(rounds=10, projections=200, sharpness=300.0),
        bm.SinkhornBellman(rounds=100, projections=20, regularisation=0.003),
    ):
        assert np.abs(bm.solve(ROOMS, solver).value - exact).max() <= 0.01 * exact.max()


@pytest.mark.slow
def test_warm_starts_help():
    """With few projections a round, scalings that are kept are far ahead of scalings that are not."""
    exact = bm.solve(ROOMS).value
    for make in (bm.EntropicPolicyIteration, bm.SinkhornBellman):
        errors = [
            np.abs(bm.solve(ROOMS, make(rounds=60, projections=4, warm_start=warm)).value - exact).max()
            for warm in (True, False)
        ]
        assert errors[0] < 0.7 * errors[1]


def test_the_entropic_operator():
    """One round from V gives c + γ·(<π, V> + ε·KL) with π the entropic plan, here by a plain Sinkhorn iteration."""
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(k), k)) for k in (3, 4)]
    problem = bm.Problem(*chains, discount=0.7, cost=random.random((3, 4)))
    bellman = Bellman.of(problem)
    value = random.random((3, 4)) * bellman.scale
    solver = bm.SinkhornBellman(rounds=1, projections=2000, regularisation=0.1)
    found = solver.init(bellman, value).now / bellman.scale
    epsilon, cost = 0.1 * problem.cost.max(), value / bellman.scale
    for x in range(3):
        for y in range(4):
            p, q = chains[0].transitions.toarray()[x], chains[1].transitions.toarray()[y]
            a, b = np.ones(3), np.ones(4)
            kernel = np.exp(-cost / epsilon)
            for _ in range(1000):
                a = 1 / (kernel @ (q * b))
                b = 1 / (kernel.T @ (p * a))
            plan = (p * a)[:, None] * kernel * (q * b)
            smooth = (plan * cost).sum() + epsilon * (plan * np.log(plan / np.outer(p, q))).sum()
            assert found[x, y] == pytest.approx(problem.cost[x, y] + 0.7 * smooth, rel=1e-10)
            assert smooth >= reference.transport(p, q, cost) - 1e-12


@pytest.mark.parametrize("make", [bm.EntropicPolicyIteration, bm.SinkhornBellman])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds is 0"),
        ({"projections": 1.5}, "projections is 1.5"),
        ({"warm_start": 1}, "warm_start is 1"),
    ],
)
def test_options_out_of_range(make, options, message):
    """Refused when the solver is made."""
    with pytest.raises(InvalidOption, match=message):
        make(**options)


@pytest.mark.parametrize("make", [bm.EntropicPolicyIteration, bm.SinkhornBellman, bm.SinkhornValueIteration])
@pytest.mark.parametrize(("discount", "scale"), [(0.5, 5e-324), (5e-324, 1.0), (0.5, 1e-310)])
def test_the_smallest_numbers(make, discount, scale):
    """Costs and discounts at the end of the range: a certified answer, as of the exact solver."""
    source, target = bm.MarkovChain([[0.3, 0.7], [0.6, 0.4]]), bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]])
    for cost in ([[0, 1], [2, 1]], [[1, 1], [1, 1]]):
        problem = bm.Problem(source, target, discount=discount, cost=np.array(cost) * scale)
        truth = reference.exact_distances(problem)
        solution = bm.solve(problem, make(rounds=3))
        for x, y in np.ndindex(2, 2):
            assert Fraction(solution.lower[x, y].item()) <= truth[x][y] <= Fraction(solution.upper[x, y].item())


@pytest.mark.parametrize(
    "solver", [bm.EntropicPolicyIteration(sharpness=5e-324), bm.SinkhornBellman(regularisation=1.7e308)], ids=repr
)
def test_transports_without_a_cost(solver):
    """So much smoothing that dividing by the sharpness overflows is refused with a remedy."""
    with pytest.raises(InvalidOption, match="smooth them less"):
        bm.solve(ROOMS, solver)


def test_options_of_numpy():
    """Options may be numpy's numbers and flags; the solver keeps Python's."""
    theirs = bm.EntropicPolicyIteration(
        rounds=np.int8(3),
        projections=np.array(4),
        warm_start=np.bool_(True),
        sharpness=np.float32(8),
        evaluation_steps=np.uint8(2),
    )
    ours = bm.EntropicPolicyIteration(rounds=3, projections=4, warm_start=True, sharpness=8.0, evaluation_steps=2)
    assert repr(theirs) == repr(ours)
    assert repr(bm.SinkhornBellman(rounds=np.uint64(5))) == repr(bm.SinkhornBellman(rounds=5))


def test_smoothing_out_of_range():
    """Positive and finite, and not beyond the range of numbers."""
    for number in (0.0, -1.0, np.inf, np.nan, True):
        with pytest.raises(InvalidOption, match="sharpness is"):
            bm.EntropicPolicyIteration(sharpness=number)
        with pytest.raises(InvalidOption, match="regularisation is"):
            bm.SinkhornBellman(regularisation=number)
    with pytest.raises(InvalidOption, match="evaluation_steps is 0"):
        bm.EntropicPolicyIteration(evaluation_steps=0)
    with pytest.raises(InvalidOption, match="leave the range of numbers"):
        bm.solve(ROOMS, bm.EntropicPolicyIteration(sharpness=1e295))
