"""Couplings of classes as couplings of states."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates.check import check
from bisimetric.couplings.lifted import LiftedWitness
from bisimetric.operators.bellman import Bellman

ROOMS = bm.environments.four_rooms(side=8, goal="all")
THIRDS = bm.environments.matching_four_rooms()  # steps of 1/3 and 1/2: classes lump up to rounding only


@pytest.mark.parametrize("chain", [ROOMS, THIRDS], ids=["exact", "rounded"])
def test_lifted_couplings(chain, classes_of_any_size):
    """Exact marginals, and a certificate on the full problem as good as the one that was lifted."""
    problem = bm.Problem(chain, chain, discount=0.9)
    solution = bm.solve(problem)
    assert isinstance(solution._proof.witness, LiftedWitness)
    n = chain.n_states
    couplings = solution.coupling.matrix()
    assert (couplings.data > 0).all()
    by_source = couplings @ np.kron(np.eye(n), np.ones((n, 1)))
    by_target = couplings @ np.kron(np.ones((n, 1)), np.eye(n))
    rows = chain.transitions.toarray()
    assert (by_source == np.repeat(rows, n, axis=0)).all()
    assert (by_target == np.tile(rows, (n, 1))).all()
    again = check(problem, Bellman.of(problem), solution._proof.value, solution._proof.witness)
    assert again.gap <= 1.1 * solution.gap + 1e-13
    np.testing.assert_array_equal(again.upper == 0, solution.upper == 0)
    assert (np.diag(solution.upper) == 0).all()
    one = solution.coupling[1, 2]
    assert (one.toarray() == couplings[[n + 2]].toarray().reshape(n, n)).all()


def test_occupancy_and_paths():
    """What the coupled chains do, on states: the occupancy pays the distance, paths are moves of both chains."""
    solution = bm.solve(bm.Problem(ROOMS, bm.environments.four_rooms(side=8), discount=0.9))
    assert isinstance(solution._proof.witness, LiftedWitness)
    occupancy = solution.coupling.occupancy()
    paid = (occupancy * solution.problem.cost).sum() / (1 - 0.9)
    assert paid == pytest.approx(solution.distance, rel=1e-8)
    walked = solution.coupling.simulate(50, 3)
    for chain, states in zip((solution.problem.source, solution.problem.target), walked.T, strict=True):
        assert all(chain.transitions[s, t] > 0 for s, t in pairwise(states))
    assert solution.explain(3).parts


@pytest.mark.parametrize("chain", [ROOMS, THIRDS], ids=["exact", "rounded"])
def test_potentials(chain, classes_of_any_size):
    """f + g ≤ L on the successors, and L ≤ c + γ(<f, P> + <g, Q>), on states."""
    problem = bm.Problem(chain, chain, discount=0.9)
    solution = bm.solve(problem)
    proved = (solution._proof.value - solution.certificate.shortfall) / solution._proof.scale
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    for x, y in [(0, 1), (3, 20), (11, 5)]:
        f, g = solution.potentials[x, y]
        xs, ys = problem.source.successors(x), problem.target.successors(y)
        assert (f[:, None] + g <= proved[np.ix_(xs, ys)] + 1e-13).all()
        assert proved[x, y] <= problem.cost[x, y] + 0.9 * (f @ P[x, xs] + g @ Q[y, ys]) + 1e-13


@pytest.mark.parametrize("chain", [ROOMS, THIRDS], ids=["exact", "rounded"])
def test_save_and_load(chain, classes_of_any_size, tmp_path):
    """The file holds couplings of states, and its bounds are proved again when it is read."""
    solution = bm.solve(bm.Problem(chain, chain, discount=0.9))
    solution.save(tmp_path / "solution.npz")
    again = bm.load(tmp_path / "solution.npz")
    np.testing.assert_array_equal(again.value, solution.value)
    np.testing.assert_array_equal(again.upper == 0, solution.upper == 0)
    assert again.gap <= 1.1 * solution.gap + 1e-13
