"""Potentials summed over pairs of classes are those summed over pairs of states."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.couplings.lifted import LiftedWitness


def doubled(chain, random):
    """The chain with every state twice, the mass split at random; its start is split as well."""
    n = chain.n_states
    share = random.dirichlet(np.ones(2), (2 * n, n))
    rows = np.tile(chain.transitions.toarray(), (2, 1))[:, :, None] * share
    start = random.dirichlet(np.ones(2 * n))
    return bm.MarkovChain(rows.transpose(0, 2, 1).reshape(2 * n, 2 * n), reward=np.tile(chain.reward, 2), start=start)


@pytest.mark.parametrize("discount", [0.5, 0.95])
def test_derivatives_of_a_problem_on_classes(discount, classes_of_any_size):
    """By the cost, the kernels and the starts: a feasible direction has the derivative of the problem on states."""
    random = np.random.default_rng(0)
    small = [bm.MarkovChain(random.dirichlet(np.ones(n), n), reward=random.random(n)) for n in (4, 5)]
    source, target = (doubled(chain, random) for chain in small)
    problem = bm.Problem(source, target, discount=discount)
    solution = bm.solve(problem)
    assert isinstance(solution._proof.witness, LiftedWitness)
    gradient = solution.gradient()
    assert (gradient.cost * problem.cost).sum() == pytest.approx(solution.distance, rel=1e-9)
    assert not gradient.is_unique
    plain = bm.solve(problem, quotient=False).gradient()
    for side, chain in (("source", source), ("target", target)):
        mine, theirs = getattr(gradient, side).toarray(), getattr(plain, side).toarray()
        visits = gradient.cost.sum(axis=1 if side == "source" else 0)
        expected = plain.cost.sum(axis=1 if side == "source" else 0)
        np.testing.assert_allclose(visits, expected, rtol=1e-6)  # the marginals of all couplings are the same
        assert mine.shape == theirs.shape == chain.transitions.shape
        np.testing.assert_allclose(mine.sum(axis=1), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["rooms", "copies"])
def test_sums_are_those_of_the_lifted_potentials(name, classes_of_any_size):
    """Σ ν f and Σ ν g, entry by entry, from the potentials of single pairs; ties are never missed."""
    random = np.random.default_rng(1)
    if name == "copies":
        small = [bm.MarkovChain(random.dirichlet(np.ones(3), 3), reward=random.random(3)) for _ in range(2)]
        chains = [doubled(chain, random) for chain in small]
    else:
        goals = "north-west", "south-east"
        chains = [bm.environments.four_rooms(side=4, goal=goal).with_start(0) for goal in goals]
    problem = bm.Problem(*chains, discount=0.9)
    solution = bm.solve(problem)
    assert isinstance(solution._proof.witness, LiftedWitness)
    gradient = solution.gradient()
    visits = gradient.cost * 0.1
    source, target = (np.zeros((chain.n_states,) * 2) for chain in chains)
    for x, y in zip(*np.nonzero(visits), strict=True):
        f, g = solution.potentials[int(x), int(y)]
        source[x, chains[0].successors(x)] += visits[x, y] * (f - f.mean())
        target[y, chains[1].successors(y)] += visits[x, y] * (g - g.mean())
    scale = np.abs(source).max() + np.abs(target).max()
    np.testing.assert_allclose(gradient.source.toarray(), 9.0 * source, atol=1e-9 * scale)
    np.testing.assert_allclose(gradient.target.toarray(), 9.0 * target, atol=1e-9 * scale)
    plain = bm.solve(problem, quotient=False).gradient()
    assert gradient.tied[(plain.cost > 0) & plain.tied & (gradient.cost > 0)].all()
