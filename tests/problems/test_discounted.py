"""The question, validated."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric.errors import InvalidOption, InvalidProblem, NotEnoughMemory

ONE = bm.MarkovChain([[1.0]], reward=[0.0])
TWO = bm.MarkovChain(np.eye(2), reward=[0.0, 1.0])


@pytest.mark.parametrize(
    "discount",
    [
        1.0,
        1,
        -0.1,
        1.5,
        np.nan,
        np.inf,
        10**400,
        None,
        True,
        np.True_,
        0.5j,
        np.complex64(0.5),
        "0.95",
        "high",
        [0.5],
        np.array([0.5]),
        [[1], [1, 2]],
        Fraction(1, 2),
        print,
    ],
    ids=repr,
)
def test_what_is_not_a_discount(discount):
    """Outside [0, 1), or not one real number."""
    with pytest.raises(InvalidProblem, match="discount is "):
        bm.Problem(ONE, ONE, discount=discount, cost=[[1.0]])


@pytest.mark.parametrize("discount", [0, 0.0, 0.5, np.float32(0.5), np.array(0.5), 1 - 2.0**-53])
def test_discounts(discount):
    """Any real scalar in [0, 1), numpy's too."""
    problem = bm.Problem(ONE, ONE, discount=discount, cost=[[1.0]])
    assert type(problem.discount) is float
    assert problem.discount == float(discount)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[1.0]], r"cost has shape \(1, 1\)"),
        ([1.0, 2.0], r"cost has shape \(2,\)"),
        ([[1.0], [-2.0]], "shift or clip"),
        ([[1.0], [np.nan]], r"cost\[1, 0\] is nan"),
        ([[np.inf], [1.0]], r"cost\[0, 0\] is inf"),
        ([[1j], [0]], "cost has dtype complex"),
        ([["a"], ["b"]], "cost has dtype <U1"),
        (np.array([[1.0], [2.0]], object), "cost has dtype object"),
        ([[1.0], [1.0, 2.0]], "cost is ragged"),
        (sparse.csr_array((2, 1)), "toarray"),
        ("label_mismatch", r"cost\.label_mismatch"),
        ([[1e308], [0.0]], "divide the cost"),
    ],
)
def test_what_is_not_a_cost(cost, message):
    """Wrong shape or kind, not finite, negative, or so large that distances overflow."""
    with pytest.raises(InvalidProblem, match=message):
        bm.Problem(TWO, ONE, discount=0.9, cost=cost)


@pytest.mark.parametrize("stop", [[[True]], [[1], [0]], [[1.0], [0.0]], [True, False], [[True], [True, False]], "yes"])
def test_what_is_not_a_stop_mask(stop):
    """Not boolean, or not one entry per pair."""
    with pytest.raises(InvalidProblem, match="stop"):
        bm.Problem(TWO, ONE, discount=0.9, stop=stop)


def test_chains_must_be_chains():
    """A matrix is not silently converted; the message says how."""
    with pytest.raises(InvalidProblem, match="as_chain"):
        bm.Problem(ONE, [[1.0]], discount=0.9)


def test_normalised_multiplies_the_cost():
    """By 1 - γ, before anything else sees it."""
    problem = bm.Problem(TWO, ONE, discount=0.75, normalised=True)
    assert problem.cost.tolist() == [[0.0], [0.25]]
    assert problem.normalised
    assert "discount 0.75, normalised" in repr(problem)


def test_problems_own_their_arrays():
    """Later changes to the caller's arrays do not reach the problem, whose own can't be written to."""
    cost, stop = np.ones((2, 1)), np.zeros((2, 1), bool)
    problem = bm.Problem(TWO, ONE, discount=0.5, cost=cost, stop=stop)
    cost[:], stop[:] = 7.0, True
    assert problem.cost.tolist() == [[1.0], [1.0]]
    assert not problem.stop.any()
    for array in (problem.cost, problem.stop):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.discount = 0.1
    assert problem.shape == (2, 1)
    assert repr(problem) == "Problem(2 x 1 states, discount 0.5, not normalised, stop)"


def test_costs_of_other_kinds_are_converted():
    """Whole numbers and single precision become float64."""
    for dtype in (int, np.float32, bool):
        assert bm.Problem(TWO, ONE, discount=0.5, cost=np.ones((2, 1), dtype)).cost.dtype == np.float64


def test_memory_is_estimated_before_the_cost_is_made(free_memory):
    """A cost that does not fit is refused before its function is called."""
    free_memory(10)
    with pytest.raises(NotEnoughMemory, match="the cost between 2 x 1 states"):
        bm.Problem(TWO, ONE, discount=0.5, cost=lambda source, target: pytest.fail("was called"))


@pytest.mark.parametrize("given", ["no", 1, None, np.array([True, False])])
def test_normalised_is_true_or_false(given):
    """Anything else is refused rather than read as true."""
    with pytest.raises(InvalidOption, match="normalised is"):
        bm.Problem(bm.as_chain("grid-3x3"), bm.as_chain("grid-3x3"), discount=0.5, normalised=given)
