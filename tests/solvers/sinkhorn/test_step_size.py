"""Step sizes: constant, decaying, a function, or relative to the span of the value."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.solvers.sinkhorn import step_size
from bisimetric.solvers.sinkhorn.step_size import SVI_THEOREM, schedule

METHODS = (bm.SinkhornValueIteration, bm.SinkhornPolicyIteration)


def rooms(discount=0.9):
    """Two small rooms."""
    return bm.Problem(bm.environments.small_four_rooms("a"), bm.environments.small_four_rooms("b"), discount=discount)


def auto(costs, rounds=10):
    """The default plan for a smallest and a largest cost."""
    return schedule("auto", rounds, None, SVI_THEOREM, (*costs, 0.9, (3, 3)))


def test_default_follows_the_span():
    """Twice the span of the value, half the step; decaying; a constant added to the cost changes nothing."""
    made = auto((0.0, 1.0))
    assert made.scaled(1, 1.0, 1.0) == step_size.AUTO_FIRST
    assert made.scaled(1, 4.0, 1.0) == made.scaled(1, 2.0, 1.0) / 2
    assert made.scaled(8, 2.0, 1.0) == pytest.approx(made.scaled(1, 2.0, 1.0) / 4)
    assert made.scaled(3, 0.0, 1.0) == auto((7.0, 8.0)).scaled(3, 0.0, 1.0)


def test_default_with_equal_costs():
    """No span at all: steps stay finite, and the answer is c/(1-γ), with and without projections."""
    made = auto((2.0, 2.0))
    assert made.scaled(1, 0.0, 0.5) == pytest.approx(step_size.AUTO_FIRST / step_size.AUTO_LEAST_SPAN)
    chain = bm.environments.random_chain(5, seed=1)
    problem = bm.Problem(chain, chain, discount=0.9, cost=np.full((5, 5), 3.0))
    for rounds in (20, 300):
        assert bm.solve(problem, bm.SinkhornValueIteration(rounds=rounds)).value == pytest.approx(30.0)


@pytest.mark.parametrize("method", METHODS)
def test_functions_are_asked_once_a_round(method):
    """With k = 1, 2, …; a function that returns Decaying's numbers makes Decaying's run; projections ask nothing."""
    asked = []

    def steps(k):
        asked.append(k)
        return 10.0 / np.sqrt(k)

    problem = rooms()
    ours = bm.solve(problem, method(step_size=steps, rounds=20))
    assert asked == list(range(1, 21))
    assert np.array_equal(ours.value, bm.solve(problem, method(step_size=bm.Decaying(10.0), rounds=20)).value)
    asked.clear()
    bm.solve(problem, method(step_size=steps, rounds=20, projections=5))
    assert asked == list(range(1, 16))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.nan, r"step_size\(3\) is nan in round 3, expected a positive finite number"),
        (0.0, r"step_size\(3\) is 0.0 in round 3"),
        (-1.0, r"step_size\(3\) is -1.0 in round 3"),
        (np.inf, r"step_size\(3\) is inf in round 3"),
        (10**400, r"step_size\(3\) is 1000.* in round 3"),
        ("fast", r"step_size\(3\) is 'fast' in round 3"),
        (None, r"step_size\(3\) is None in round 3"),
        (True, r"step_size\(3\) is True in round 3"),
        (1e300, r"step_size\(3\) = 1e\+300 in round 3 times the largest distance leaves the range of numbers"),
        (1e-305, r"step_size\(3\) = 1e-305 in round 3 is too small"),
    ],
    ids=repr,
)
def test_functions_that_return_nonsense(method, wrong, message):
    """The error names the round and the value, as soon as the function returns it."""
    with pytest.raises(InvalidOption, match=message):
        bm.solve(rooms(), method(step_size=lambda k: wrong if k == 3 else 1.0, rounds=5))


def test_errors_of_functions_are_the_users_own():
    """What a function raises arrives as it is."""
    with pytest.raises(ZeroDivisionError):
        bm.solve(rooms(), bm.SinkhornValueIteration(step_size=lambda k: 1 / (3 - k), rounds=5))
