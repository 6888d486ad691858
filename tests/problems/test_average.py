"""Problems of the long run."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidProblem

FLIP = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 1], labels=["a", "b"])


def test_a_problem_without_a_discount():
    """It is a `Problem` with discount 1, equal by content, and says what it is."""
    problem = bm.AverageProblem(FLIP, FLIP)
    assert problem.discount == 1.0
    assert problem == bm.AverageProblem(FLIP, FLIP, cost=[[0, 1], [1, 0]])
    assert problem != bm.Problem(FLIP, FLIP, discount=0.0)
    assert repr(problem) == "AverageProblem(2 x 2 states)"
    assert "label_mismatch" in repr(bm.AverageProblem(FLIP, FLIP, cost=bm.cost.label_mismatch))
    assert [found.period.tolist() for found in problem.recurrences] == [[2], [2]]


def test_labels_that_recurrent_states_do_not_share():
    """An error with the remedy; as an array the same cost is answered."""
    other = bm.MarkovChain([[0, 1, 0], [0, 0, 1], [0, 1, 0]], labels=["a", "c", "d"])
    with pytest.raises(InvalidProblem, match=r"label in common.*spelled.*horizon"):
        bm.AverageProblem(FLIP, other, cost=bm.cost.label_mismatch)
    assert bm.solve(bm.AverageProblem(FLIP, other, cost=bm.cost.label_mismatch(FLIP, other))).distance == 1.0
    for cost in (
        0.5 * bm.cost.label_mismatch,
        bm.cost.label_difference,
        bm.cost.label_jaccard,
        bm.cost.label_mismatch + bm.cost.function(lambda source, target: np.ones((2, 3))),
    ):
        with pytest.raises(InvalidProblem, match="label in common"):
            bm.AverageProblem(FLIP, other, cost=cost)
    shared = bm.MarkovChain([[0, 1, 0], [0, 0, 1], [0, 1, 0]], labels=["x", "a", "d"])
    assert bm.solve(bm.AverageProblem(FLIP, shared, cost=bm.cost.label_mismatch)).distance == 0.5


def test_sets_of_labels_share_a_part():
    """Costs of sets ask for one proposition in common, or for two empty sets; whole labels have to be equal."""
    sets = [frozenset("ab"), frozenset("cd")], [frozenset("ae"), frozenset("f")]
    pair = [bm.MarkovChain([[0, 1], [1, 0]], labels=labels) for labels in sets]
    for cost in (bm.cost.label_jaccard, 2 * bm.cost.label_difference):
        assert bm.solve(bm.AverageProblem(*pair, cost=cost)).distance > 0.0
    with pytest.raises(InvalidProblem, match="label in common"):
        bm.AverageProblem(*pair, cost=bm.cost.label_mismatch)
    empty = bm.MarkovChain([[1.0]], labels=[frozenset()])
    assert bm.solve(bm.AverageProblem(empty, empty, cost=bm.cost.label_jaccard)).distance == 0.0


@pytest.mark.parametrize("cost", [[[1.0]], [[-1.0, 0.0], [0.0, 0.0]], np.full((2, 2), np.nan), "labels"])
def test_costs_that_do_not_fit(cost):
    """As in every problem."""
    with pytest.raises(InvalidProblem):
        bm.AverageProblem(FLIP, FLIP, cost=cost)


def test_values_alone_prove_nothing():
    """`certify` says so; chains have to be chains."""
    with pytest.raises(InvalidProblem, match="AverageProblem"):
        bm.certify(bm.AverageProblem(FLIP, FLIP), np.zeros((2, 2)))
    with pytest.raises(InvalidProblem, match="as_chain"):
        bm.AverageProblem(np.eye(2), FLIP)


def test_costs_that_overflow_are_refused_in_words_of_averages():
    """An average cost has no discount, so its error speaks of none."""
    chain = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(InvalidProblem, match="the largest cost is 1e\\+308: sums of costs overflow; divide the cost"):
        bm.AverageProblem(chain, chain, cost=np.full((2, 2), 1e308))
