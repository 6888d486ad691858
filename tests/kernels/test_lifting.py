"""Couplings of classes spread over states, in every mode of the kernels."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.couplings.lifted import LiftedWitness

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("classes_of_any_size")]

GRAIN = 2.0**-52


def nearly_alike():
    """Four states that move alike but for a grain, which the last one sends where the others never go."""
    matrix = np.zeros((7, 7))
    matrix[:4, 4:6] = 0.5
    matrix[3, 5:] = 0.5 - GRAIN, GRAIN
    matrix[4:, 4:] = np.eye(3)
    return bm.MarkovChain(matrix, reward=[0, 0, 0, 0, 1, 2, 30])


def copied(random, *, exact):
    """Three states in two copies each; a copy's mass goes to one copy, or half to each, which rounds."""
    rows = random.dirichlet(np.ones(3), 3)
    matrix = np.zeros((6, 6))
    for s in range(6):
        for t in range(3):
            first = random.choice(2) if exact else random.random()
            matrix[s, [t, t + 3]] = rows[s % 3, t] * first, rows[s % 3, t] * (1 - first)
    return bm.MarkovChain(matrix / matrix.sum(axis=1, keepdims=True), reward=[0, 1, 3] * 2)


CHAINS = {
    "nearly": nearly_alike(),
    "exact": copied(np.random.default_rng(1), exact=True),
    "rounded": copied(np.random.default_rng(2), exact=False),
}


@pytest.mark.parametrize("name", CHAINS)
def test_marginals_are_exact(name):
    """Every coupling has the rows of both states, bit by bit."""
    chain = CHAINS[name]
    solution = bm.solve(bm.Problem(chain, chain, discount=0.9))
    assert isinstance(solution._proof.witness, LiftedWitness)
    rows = chain.transitions.toarray()
    for x in range(chain.n_states):
        for y in range(chain.n_states):
            law = solution.coupling[x, y].toarray()
            assert (law >= 0).all()
            assert (law.sum(axis=1) == rows[x]).all()
            assert (law.sum(axis=0) == rows[y]).all()


@pytest.mark.parametrize("name", CHAINS)
def test_they_prove_as_much(name):
    """In rational arithmetic on the full problem, where the solve on all states agrees."""
    chain = CHAINS[name]
    problem = bm.Problem(chain, chain, discount=0.9)
    solution, plain = bm.solve(problem), bm.solve(problem, quotient=False)
    proved = bm.certify_exactly(solution)
    largest = solution.upper.max()
    assert proved.gap <= solution.gap + 1e-13 * largest
    assert (proved.lower <= plain.upper).all()
    assert (plain.lower <= proved.upper).all()
    np.testing.assert_array_equal(solution.upper == 0, plain.upper == 0)


def test_a_class_that_the_first_state_never_enters():
    """The last state's extra grain has a potential that leaves f as it is, and the diagonal is still exactly zero."""
    chain = CHAINS["nearly"]
    solution = bm.solve(bm.Problem(chain, chain, discount=0.9))
    assert solution._proof.witness.class_x.tolist() == [0, 0, 0, 0, 1, 2, 3]
    f, g = solution.potentials[0, 3]
    f_without, g_without = solution.potentials[0, 0]
    np.testing.assert_allclose(f, f_without, atol=1e-12)
    np.testing.assert_allclose(g[:2], g_without, atol=1e-12)
    assert np.isfinite(g[2])
    assert (np.diag(solution.upper) == 0).all()
    assert solution.upper[0, 1] == 0
    assert 0 < solution.upper[0, 3] < 1e-7


def test_stopped_pairs_have_no_coupling():
    """Their cells are empty on states as on classes."""
    chain = CHAINS["exact"]
    stop = np.zeros((6, 6), bool)
    stop[[0, 3]] = True
    solution = bm.solve(bm.Problem(chain, chain, discount=0.9, stop=stop))
    assert isinstance(solution._proof.witness, LiftedWitness)
    assert solution.coupling[3, 4].nnz == 0
    assert solution.coupling[1, 4].nnz > 0
