"""The answer and its views."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests import strategies


@given(st.data(), strategies.chains(max_states=5, min_states=2, tiny=False), strategies.tame_discounts)
def test_match_recovers_a_permutation(data, chain, discount):
    """A relabelled copy with a reward of its own per state: every state finds itself."""
    n = chain.n_states
    order = np.array(data.draw(st.permutations(range(n))))
    reward = np.arange(n, dtype=float)
    matrix = chain.transitions.toarray()
    one = bm.MarkovChain(matrix, reward=reward)
    other = bm.MarkovChain(matrix[np.ix_(order, order)], reward=reward[order])
    solution = bm.solve(bm.Problem(one, other, discount=discount))
    assert np.array_equal(order[solution.match()], np.arange(n))
    assert (solution.upper[np.arange(n), solution.match()] == 0).all()


def test_history_and_facts():
    """History counts from one with growing seconds and ends at a small gap; texts show the main facts."""
    problem = bm.Problem(bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0"), discount=0.95)
    solution = bm.solve(problem)
    assert [step.step for step in solution.history] == list(range(1, len(solution.history) + 1))
    seconds = [step.seconds for step in solution.history]
    assert seconds == sorted(seconds)
    assert solution.history[-1].gap <= 1e-9 * solution.upper.max() < solution.history[0].gap
    assert solution.solver == "policy-iteration"
    for text in ("40 x 40", "0.95 (not normalised)", "0.4355817651", "SOLVED"):
        assert text in repr(solution)
        assert text in solution._repr_html_()


def test_facts_without_starts():
    """The largest distance stands in for the distance."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    assert "largest 2" in repr(bm.solve(bm.Problem(chain, chain, discount=0.5)))


def test_a_solution_is_immutable():
    """Fields can't be replaced."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    solution = bm.solve(bm.Problem(chain, chain, discount=0.5))
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.status = bm.Status.STALLED


def test_a_missed_tolerance_is_said():
    """By the solution of a default solve that stopped early; a solved one only tells its gap."""
    problem = bm.Problem(bm.as_chain("four-rooms:p1"), bm.as_chain("four-rooms:p0"), discount=0.95)
    early, solved = bm.solve(problem, max_steps=1), bm.solve(problem)
    for text in (repr(early), early._repr_html_()):
        assert f"STEP_LIMIT: relative gap {early.relative_gap:.1e}, wanted 1e-09" in text
    assert "wanted" not in repr(solved)
    assert (early.tol, early.reached_tol, solved.reached_tol) == (1e-9, False, True)
    tiny = bm.MarkovChain([[0.5, 0.5], [0.0, 1.0]], reward=[0, 1])
    rounds = bm.solve(bm.Problem(tiny, tiny, discount=0.5), bm.SinkhornBellman())
    assert (rounds.tol, rounds.reached_tol) == (None, True)
    game = bm.bisimulation_metric(bm.as_mdp(tiny), discount=0.9)
    assert (game.tol, game.reached_tol) == (1e-9, True)


def test_a_discount_close_to_one_is_not_one():
    """Wherever it is shown."""
    chain = bm.MarkovChain([[1.0]], reward=[0.0])
    problem = bm.Problem(chain, chain, discount=1 - 1e-8)
    assert "discount 1-1e-08," in repr(problem)
    assert "discount 1-1e-08 (not normalised)" in repr(bm.solve(problem))
    mdp = bm.as_mdp(chain)
    assert "discount 1-1e-08 (normalised)" in repr(bm.bisimulation_metric(mdp, discount=1 - 1e-8))


def test_every_status_is_its_message():
    """Different messages, each a sentence."""
    assert len({status.value for status in bm.Status}) == len(bm.Status.__members__)
    assert all(" " in status.value for status in bm.Status)


@pytest.mark.parametrize("k", [-1, 1.5, True, "3"])
def test_what_is_not_a_number_of_parts(k):
    """explain(k) wants a whole number."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1], start=0)
    with pytest.raises(InvalidOption, match="k is "):
        bm.solve(bm.Problem(chain, chain, discount=0.5)).explain(k)


def test_one_object_with_row_errors_is_one_unknown_chain():
    """It is at 0 from itself, and its bounds hold for every chain within the errors; two equal objects are two."""
    rows, rewards, error = np.array([[0.9, 0.1, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]), [0.0, 1.0, 0.0], 0.1
    one, other = (bm.MarkovChain(rows, reward=rewards, start=0, row_error=error) for _ in range(2))
    assert one == other
    alone, apart = bm.distance(one, one, discount=0.9), bm.distance(one, other, discount=0.9)
    assert alone.interval == (0.0, 0.0)
    assert not alone.upper.diagonal().any()
    assert (alone.upper <= apart.upper).all()
    assert apart.interval[0] == 0.0
    random = np.random.default_rng(0)
    near = [rows * (1 - error / 2) + error / 2 * random.dirichlet(np.ones(3), 3) for _ in range(4)]
    true = [bm.MarkovChain(matrix, reward=rewards, start=0) for matrix in near]
    for first in true:
        found = bm.distance(first, first, discount=0.9).value
        assert (alone.lower <= found + 1e-12).all()
        assert (found <= alone.upper + 1e-12).all()
        for second in true:
            assert (bm.distance(first, second, discount=0.9).value <= apart.upper + 1e-12).all()
    farthest = bm.distance(true[0], true[1], discount=0.9).distance
    assert 0.0 < farthest <= apart.interval[1]
