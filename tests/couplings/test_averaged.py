"""Averaged occupancy couplings, against their definition in dense arrays."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.couplings.averaged import Average
from bisimetric.couplings.factored import Factored
from bisimetric.errors import NotEnoughMemory
from bisimetric.operators.bellman import Bellman

RANDOM = np.random.default_rng(5)
P, Q = (RANDOM.dirichlet(np.ones(k), k) for k in (3, 2))
PROBLEM = bm.Problem(bm.MarkovChain(P, start=0), bm.MarkovChain(Q, start=1), discount=0.7, cost=RANDOM.random((3, 2)))
BELLMAN = Bellman.of(PROBLEM)


def test_one_round_of_the_independent_coupling():
    """The occupancy of independent chains; what is paid is its mean cost; the output is that coupling again."""
    average = Average.start(BELLMAN)
    average.add(Factored.start(BELLMAN, "independent"), rounded=True)
    joint = np.kron(PROBLEM.source.transitions.toarray(), PROBLEM.target.transitions.toarray())
    start = np.zeros(6)
    start[1] = 1.0
    law = np.linalg.solve(np.eye(6) - 0.7 * joint.T, 0.3 * start)
    np.testing.assert_allclose(average.visited, law, atol=1e-12)
    assert average.count == 1
    assert average.paid == pytest.approx(float(law @ BELLMAN.scaled_cost().ravel()))
    value, _ = average.output(BELLMAN.scaled_cost(), 1e-12)
    truth = np.linalg.solve(np.eye(6) - 0.7 * joint, BELLMAN.scaled_cost().ravel())
    np.testing.assert_allclose(value.ravel(), truth, rtol=1e-9)


def test_averages_of_two_rounds_are_couplings():
    """Occupancies add up to the number of rounds, and the output's marginals are right."""
    average, state = Average.start(BELLMAN), Factored.start(BELLMAN, "independent")
    average.add(state, rounded=True)
    state.project(True, 2.0, BELLMAN.scaled_cost())
    average.add(state, rounded=True)
    assert average.visited.sum() == pytest.approx(2.0)
    assert average.flow.sum() == pytest.approx(2.0)
    _, witness = average.output(BELLMAN.scaled_cost(), 1e-12)
    cells = witness.cells(0, 6)
    for pair in range(6):
        inside = slice(cells.indptr[pair], cells.indptr[pair + 1])
        x, y = divmod(pair, 2)
        np.testing.assert_allclose(np.bincount(cells.left[inside], cells.weight[inside]), P[x], atol=1e-12)
        np.testing.assert_allclose(np.bincount(cells.right[inside], cells.weight[inside]), Q[y], atol=1e-12)


def test_memory_is_asked_for_first(free_memory):
    """With the remedy."""
    free_memory(100)
    with pytest.raises(NotEnoughMemory, match='output="last" needs far less'):
        Average.start(BELLMAN)
