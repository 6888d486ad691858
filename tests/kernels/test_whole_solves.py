"""A few whole solves in every mode: also run as plain Python and with bounds checks (.ci/run)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import bisimetric as bm
from tests import reference

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("stop", [False, True], ids=["free", "stopping"])
@pytest.mark.parametrize("seed", range(3))
def test_small_problems(seed, stop):
    """Solve, start transport, occupancy and certificate against rational arithmetic."""
    random = np.random.default_rng(seed)
    source = bm.MarkovChain(random.dirichlet(np.full(3, 0.5), 3), start=random.dirichlet(np.ones(3)))
    target = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]], start=1)
    mask = random.random((3, 2)) < 0.3 if stop else None
    problem = bm.Problem(source, target, discount=0.9, cost=random.random((3, 2)), stop=mask)
    solution = bm.solve(problem)
    truth = reference.exact_distances(problem)
    for x in range(3):
        for y in range(2):
            assert Fraction(solution.lower[x, y]) <= truth[x][y] <= Fraction(solution.upper[x, y])
    low, high = solution.interval
    assert Fraction(low) <= reference.exact_transport(source.start, target.start, truth) <= Fraction(high)
    paid = (solution.coupling.occupancy() * problem.cost).sum() / (1 - 0.9)
    assert paid == pytest.approx(solution.distance, rel=1e-8)


def test_zeros():
    """A chain against itself: the backward search proves the diagonal."""
    chain = bm.MarkovChain([[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0, 0, 1]], reward=[0, 1, 0])
    solution = bm.solve(bm.Problem(chain, chain, discount=0.9))
    assert (np.diag(solution.upper) == 0).all()
    assert (solution.upper[0, 1:] > 0).all()


def test_large_supports():
    """Ten successors against nine, for two pairs of rows."""
    random = np.random.default_rng(5)
    chains = []
    for n in (10, 9):
        matrix = np.eye(n)
        matrix[:2] = random.dirichlet(np.ones(n), 2)
        chains.append(bm.MarkovChain(matrix))
    problem = bm.Problem(*chains, discount=0.8, cost=random.random((10, 9)))
    np.testing.assert_allclose(bm.solve(problem).value, reference.distances(problem), rtol=1e-8)


@pytest.mark.parametrize(
    "solver",
    [
        bm.SinkhornValueIteration(rounds=4),
        bm.SinkhornValueIteration(rounds=3, step_size=1e4, output="average"),
        bm.SinkhornValueIteration(rounds=8, step_size=1e4, projections=5),
        bm.SinkhornPolicyIteration(rounds=3, initial="uniform"),
        bm.SinkhornBellman(rounds=2, projections=3),
    ],
    ids=repr,
)
def test_sinkhorn_solvers(solver):
    """Every kernel of theirs: small supports, stops, and sizes for matrix products."""
    random = np.random.default_rng(7)
    for n, m, density in ((3, 2, 0.6), (8, 9, 1.0), (9, 8, 0.6)):
        chains = []
        for size in (n, m):
            matrix = random.random((size, size)) * (random.random((size, size)) < density) + np.eye(size)
            chains.append(bm.MarkovChain(matrix / matrix.sum(axis=1, keepdims=True)))
        stop = random.random((n, m)) < 0.2 if density < 1 else None
        problem = bm.Problem(*chains, discount=0.7, cost=random.random((n, m)), stop=stop)
        solution, truth = bm.solve(problem, solver), reference.distances(problem)
        assert (solution.lower <= truth + 1e-9).all()
        assert (truth <= solution.upper + 1e-9).all()
