"""Step sizes: the default is relative to the span of the value, and keeps what the tuning study promises."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.solvers.sinkhorn import step_size
from bisimetric.solvers.sinkhorn.step_size import SVI_THEOREM, schedule


def error(problem, truth, solver):
    """max(V^π - V*)/max V* of the last coupling."""
    return (bm.solve(problem, solver).value - truth).max() / truth.max()


@pytest.mark.parametrize("seed", [None, 0])
def test_default_against_a_constant_step(seed):
    """It is in a fifth of the rounds where η = 1 is at the end, and then ends below half of that."""
    env = bm.environments
    if seed is None:
        problem = bm.Problem(env.four_rooms("p1"), env.four_rooms("p0"), discount=0.95)
    else:
        chains = (env.random_chain(20, seed=2 * seed + k) for k in range(2))
        problem = bm.Problem(*chains, discount=0.95, cost=env.random_cost(20, 20, seed=seed))
    truth = bm.solve(problem).value
    constant = error(problem, truth, bm.SinkhornValueIteration(step_size=1.0, rounds=750))
    assert error(problem, truth, bm.SinkhornValueIteration(rounds=150)) <= constant
    assert error(problem, truth, bm.SinkhornValueIteration(rounds=750)) <= constant / 2


def auto(costs, rounds=10):
    """The default plan for a smallest and a largest cost."""
    return schedule("auto", rounds, rounds, SVI_THEOREM, (*costs, 0.9, (3, 3)))


def test_default_follows_the_span():
    """Twice the span of the value, half the step; decaying; a constant added to the cost changes nothing."""
    made = auto((0.0, 1.0))
    assert made.scaled(1, 1.0, 1.0) == step_size.AUTO_FIRST
    assert made.scaled(1, 4.0, 1.0) == made.scaled(1, 2.0, 1.0) / 2
    assert made.scaled(8, 2.0, 1.0) == pytest.approx(made.scaled(1, 2.0, 1.0) / 4)
    assert made.scaled(3, 0.0, 1.0) == auto((7.0, 8.0)).scaled(3, 0.0, 1.0)


def test_default_with_equal_costs():
    """No span at all: steps stay finite, and the answer is c/(1-γ)."""
    made = auto((2.0, 2.0))
    assert made.scaled(1, 0.0, 0.5) == pytest.approx(step_size.AUTO_FIRST / step_size.AUTO_LEAST_SPAN)
    chain = bm.environments.random_chain(5, seed=1)
    problem = bm.Problem(chain, chain, discount=0.9, cost=np.full((5, 5), 3.0))
    assert bm.solve(problem, bm.SinkhornValueIteration(rounds=20)).value == pytest.approx(30.0)
