"""Sequences of one thing for each time."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from bisimetric.problems.steps import Steps


def test_the_same_object_is_kept_once():
    """As a sequence it is the list that it was made of."""
    one, other = np.zeros(2), np.ones(2)
    steps = Steps.of([one, other, one])
    assert steps.different == (one, other)
    assert steps.places.tolist() == [0, 1, 0]
    assert [part is one for part in steps] == [True, False, True]
    assert steps[-1] is one
    assert steps[1:] == (other, one)
    assert len(steps) == 3
    assert steps.alike(0, 2)
    assert not steps.alike(0, 1)
    with pytest.raises(IndexError):
        steps[3]


def test_what_is_always_the_same_takes_no_memory():
    """A billion times the same thing; what is made of it is made once."""
    made = []
    steps = Steps.always("a", 10**9).each(lambda part: made.append(part) or part * 2)
    assert len(steps) == 10**9
    assert steps[10**8] == steps[-1] == "aa"
    assert made == ["a"]
    assert list(Steps.always("a", 3)) == ["a"] * 3


def test_copies_stay_read_only():
    """Arrays inside, and which of them holds when."""
    steps = Steps.of([np.zeros(2), np.ones(2)])
    assert copy.deepcopy(steps) is steps
    again = pickle.loads(pickle.dumps(steps))
    assert not again.places.flags.writeable
    assert not again.different[0].flags.writeable
    assert [part.tolist() for part in again] == [[0.0, 0.0], [1.0, 1.0]]
