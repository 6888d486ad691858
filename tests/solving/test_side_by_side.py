"""Solutions of many problems are made when somebody looks at them, and are ordinary ones then."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.frozen import MAKER, MAKERS_NUMBER
from bisimetric.errors import InvalidOption
from bisimetric.problems.side_by_side import ManyProblems

RANDOM = np.random.default_rng(11)


def some(count=3, discount=0.9):
    """Problems between random chains with starts."""
    chains = [bm.MarkovChain(RANDOM.dirichlet(np.ones(3), 3), reward=[0, 1, 5], start=0) for _ in range(count + 1)]
    return [bm.Problem(a, b, discount=discount) for a, b in zip(chains[1:], chains[:-1], strict=True)]


def test_solutions_are_made_at_the_first_look():
    """Field by field, once; unknown names are errors as always."""
    solutions = bm.solve(ManyProblems(some())).solutions()
    assert all(set(vars(solution)) == {MAKER, MAKERS_NUMBER} for solution in solutions)
    assert solutions[0].status is bm.Status.SOLVED
    assert solutions[0].tol == 1e-9
    assert solutions[0].certificate is solutions[0].certificate
    assert set(vars(solutions[0])) == {MAKER, MAKERS_NUMBER, "status", "tol", "certificate"}
    for solution in solutions:
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            solution.nothing  # noqa: B018


def test_everything_works_on_them():
    """Pickle, gradient, explanation, history; each as of a single solve."""
    asked = some()
    for problem, found in zip(asked, bm.solve(ManyProblems(asked)).solutions(), strict=True):
        alone = bm.solve(problem)
        copy = pickle.loads(pickle.dumps(found))
        assert copy.interval == found.interval
        assert not {MAKER, MAKERS_NUMBER} & set(vars(copy))
        assert found.distance == pytest.approx(alone.distance, rel=1e-9)
        assert found.solver == alone.solver
        np.testing.assert_allclose(found.gradient().cost, alone.gradient().cost, atol=1e-6)
        assert found.explain().distance == pytest.approx(alone.distance, rel=1e-8)
        assert [step.step for step in found.history] == list(range(1, len(found.history) + 1))
        assert found.history[-1].gap <= 1e-9 * found.upper.max()
        assert "SOLVED" in repr(found)


def test_one_chain_against_itself_is_symmetric_and_zero_on_the_diagonal():
    """To the last bit, as in a single solve."""
    chains = [bm.MarkovChain(RANDOM.dirichlet(np.ones(4), 4), reward=[0, 0, 1, 2], start=0) for _ in range(4)]
    for found in bm.solve(ManyProblems([bm.Problem(chain, chain, discount=0.95) for chain in chains])).solutions():
        for bound in (found.value, found.lower, found.upper):
            np.testing.assert_array_equal(bound, bound.T)
            assert not bound.diagonal().any()


def test_a_time_limit_leaves_what_holds_a_priori():
    """For every problem."""
    answer = bm.solve(ManyProblems(some()), time_limit=1e-9, throw=False)
    for found in answer.solutions():
        assert found.status is bm.Status.TIME_LIMIT
        assert (found.lower <= found.value).all()
        assert (found.value <= found.upper).all()
        assert found.history == ()
        assert found.coupling[0, 0].shape == (3, 3)


def test_a_guess_is_refused():
    """There is no array for all of them."""
    with pytest.raises(InvalidOption, match="many problems"):
        bm.solve(ManyProblems(some()), initial=np.zeros((3, 3)))
