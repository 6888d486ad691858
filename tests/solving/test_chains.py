"""The question about two chains: on all pairs or on some, on states or on classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import bisimetric as bm

ROOMS = bm.environments.four_rooms(side=8, goal="all")
PLAIN = bm.Problem(bm.environments.grid_3x3(), bm.environments.four_rooms("p1"), discount=0.9)


@dataclass(frozen=True, slots=True)
class Interrupted(bm.PolicyIteration):
    """Ctrl-C before the first sweep."""

    name = "interrupted"

    def init(self, bellman, value, tol=0.0):
        raise KeyboardInterrupt


@pytest.mark.parametrize("source", [PLAIN.source, ROOMS], ids=["small", "with classes"])
def test_interrupted_before_the_first_sweep(source):
    """The independent coupling, which is valid everywhere, and bounds that hold."""
    problem = bm.Problem(source, source, discount=0.9)
    solution = bm.solve(problem, Interrupted(), throw=False)
    truth = bm.solve(problem)
    assert solution.status is bm.Status.INTERRUPTED
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()
    law, rows = solution.coupling[0, 1].toarray(), source.transitions.toarray()
    np.testing.assert_allclose(law.sum(axis=1), rows[0], atol=1e-15)
    np.testing.assert_allclose(law.sum(axis=0), rows[1], atol=1e-15)


def test_a_solution_of_few_pairs_is_a_guess():
    """Its pairs without a value start from the cost; the answer is the same."""
    few = bm.distance(PLAIN.source, PLAIN.target, discount=0.9, pairs="reachable")
    for problem in (PLAIN, few.problem):
        found, truth = bm.solve(problem, initial=few), bm.solve(problem)
        assert found.reached_tol
        assert np.fmax.reduce(found.lower - truth.upper, axis=None) <= 0.0


@pytest.mark.parametrize("discount", [0.0, 0.9])
def test_nothing_to_solve(discount):
    """No future, or nothing to pay: the cost is the answer, and no solver takes a step."""
    cost = np.zeros(PLAIN.shape) if discount else PLAIN.cost
    solution = bm.solve(bm.Problem(PLAIN.source, PLAIN.target, discount=discount, cost=cost), Interrupted())
    assert solution.history == ()
    assert np.array_equal(solution.value, cost)
