"""Numbers as options: of any kind and size, refused in our own words."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.options import as_float, fraction, positive, seconds_of, shown, whole
from bisimetric.errors import InvalidOption, NotEnoughMemory

HUGE = 10**400
CHAIN = bm.MarkovChain(np.eye(2), reward=[0, 1], start=0)


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), (np.float32(0.5), 0.5), (Fraction(1, 4), 0.25), (HUGE, math.inf), (-HUGE, -math.inf)],
    ids=["int", "single", "fraction", "huge", "negative"],
)
def test_any_real_number(value, number):
    """Those that no float can hold are infinite."""
    assert as_float(value) == number


@pytest.mark.parametrize("value", [True, None, "1", 1j, np.array(1.0), math.nan])
def test_what_is_no_number(value):
    """NaN, which no limit lets through."""
    assert math.isnan(as_float(value))


def test_values_in_messages():
    """Short, also where Python refuses to write all digits."""
    assert shown(0.5) == "0.5"
    assert len(shown(HUGE)) < 100
    assert shown(10**5000) == "a number of thousands of digits"


@pytest.mark.parametrize("huge", [HUGE, 10**5000, Fraction(HUGE)], ids=["int", "long int", "fraction"])
@pytest.mark.parametrize(
    "call",
    [
        lambda huge: positive(huge, "it"),
        lambda huge: fraction(huge, "it"),
        lambda huge: whole(huge, "it", at_least=1, at_most=9),
        lambda huge: bm.distance(CHAIN, CHAIN, discount=0.5, tol=huge),
        lambda huge: bm.bisimulation_metric(CHAIN, discount=0.5, tol=huge),
        lambda huge: bm.aggregate(CHAIN, epsilon=huge, discount=0.5),
        lambda huge: bm.aggregate(CHAIN, n_states=huge, discount=0.5),
        lambda huge: bm.bisimilar_classes(CHAIN, tol=huge),
        lambda huge: bm.SinkhornBellman(regularisation=huge),
        lambda huge: bm.SinkhornValueIteration(step_size=huge),
        lambda huge: bm.SinkhornValueIteration(inner_steps=huge),
        lambda huge: bm.Decaying(huge),
    ],
)
def test_huge_numbers(call, huge):
    """Refused like any other number out of range."""
    with pytest.raises(InvalidOption, match="expected a"):
        call(huge)


@pytest.mark.parametrize("huge", [HUGE, 10**5000], ids=["int", "long int"])
@pytest.mark.parametrize(
    "call",
    [
        lambda huge: bm.environments.four_rooms(side=huge),
        lambda huge: bm.environments.open_grid(huge),
        lambda huge: bm.environments.random_chain(huge, seed=0),
        lambda huge: bm.environments.random_cost(huge, huge, seed=0),
        lambda huge: bm.environments.random_sparse_chain(huge, 1, seed=0),
    ],
)
def test_huge_models(call, huge):
    """Refused before anything is allocated."""
    with pytest.raises(NotEnoughMemory, match="needs about"):
        call(huge)


def test_huge_numbers_of_rounds():
    """Refused where the steps that they make leave the range of numbers."""
    with pytest.raises(InvalidOption, match=r"characters\) rounds is"):
        bm.solve(bm.Problem(CHAIN, CHAIN, discount=0.5), bm.SinkhornValueIteration(rounds=HUGE))


def test_time_limits():
    """None is no limit."""
    assert seconds_of(None) == math.inf
    assert seconds_of(np.float32(0.5)) == 0.5
    for wrong in (0, -1.0, math.nan, math.inf, "1", True):
        with pytest.raises(InvalidOption, match="positive number of seconds"):
            seconds_of(wrong)
