"""The problem of bisimilarity distances: classes of both chains together, and the chains on classes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.errors import InvalidProblem
from bisimetric.problems.bisimilarity import BisimilarityProblem
from tests import reference
from tests.bisimulation.labelled import coin, labelled_chains


@given(labelled_chains(), labelled_chains())
def test_classes_are_those_of_both_chains_together(source, target):
    """Equal numbers where states are bisimilar, in one chain and across."""
    problem = BisimilarityProblem(source, target)
    x, y = problem.classes
    assert np.array_equal(np.equal.outer(x, y), reference.joint_bisimilarity(source, target))
    assert np.array_equal(np.equal.outer(x, x), reference.joint_bisimilarity(source, source))
    assert np.array_equal(problem.ends, np.equal.outer(x, y) | problem.stop)
    assert np.array_equal(problem.stop, problem.cost == 1.0)


@given(labelled_chains(), labelled_chains())
def test_exact_rows_have_an_exact_quotient(source, target):
    """Rows of one class are equal in whole units, so certificates are about the chains themselves."""
    assert BisimilarityProblem(source, target).quotient.row_error == 0.0


def test_row_error_counts_what_the_rows_of_a_class_differ_by():
    """Inside a chain, and between the two chains."""
    one, other = coin(0.5), coin(0.5 + 2.0**-45)
    assert BisimilarityProblem(one, other).quotient.row_error == pytest.approx(2.0**-44)
    mixed = bm.MarkovChain([[0.5, 0.5], [0.5 + 2.0**-45, 0.5 - 2.0**-45]], labels=["a", "a"])
    assert BisimilarityProblem(mixed, mixed).quotient.row_error == 0.0  # one class, which never leaves itself
    assert not np.equal.outer(*BisimilarityProblem(one, other, tol=0.0).classes)[:2, :2].any()


def test_rewards_do_not_count():
    """Labels alone say what is seen."""
    one, other = coin(0.5, reward=[1, 2, 3]), coin(0.5, reward=[3, 2, 1])
    assert np.equal.outer(*BisimilarityProblem(one, other).classes).diagonal().all()


def test_equality_and_copies():
    """By content, the tolerance included; a problem with a discount is another problem."""
    problem, again = (BisimilarityProblem(coin(0.5), coin(0.6)) for _ in range(2))
    assert problem == again
    assert hash(problem) == hash(again)
    assert problem != BisimilarityProblem(coin(0.5), coin(0.6), tol=1e-3)
    assert problem != bm.Problem(coin(0.5), coin(0.6), discount=0.0, cost=bm.cost.label_mismatch, stop=problem.stop)
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert copy.deepcopy(problem) is problem
    assert repr(problem) == "BisimilarityProblem(3 x 3 states, no discount)"
    with pytest.raises(InvalidProblem, match="no labels"):
        BisimilarityProblem(coin(0.5), bm.MarkovChain([[1.0]]))
    with pytest.raises(InvalidProblem, match="expected a MarkovChain"):
        BisimilarityProblem(coin(0.5), [[1.0]])
