"""Equality by content."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric._support.content import EqualByContent, digest


class Parcel(EqualByContent):
    """An array and a word."""

    def __init__(self, array, word):
        self.array, self.word = array, word

    def _arrays(self):
        return (self.array,)

    def _words(self):
        return (self.word,)


class OtherParcel(Parcel):
    """The same in another type."""


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f8"])
def test_numbers_count_and_not_how_they_are_stored(dtype):
    """Width, byte order, strides and the sign of zero make no difference."""
    numbers = np.array([0.0, 0.5, -2.0])
    assert digest(numbers.astype(dtype)) == digest(numbers)
    assert digest(np.repeat(numbers, 2)[::2]) == digest(numbers)
    assert digest(np.array([-0.0, 0.5, -2.0])) == digest(numbers)
    assert digest(np.array([1, 2], np.int32)) == digest(np.array([1, 2], np.int64))


def test_lists_of_arrays_do_not_run_together():
    """Where one array ends and the next begins counts, and so does a missing one."""
    one, two = np.array([1.0]), np.array([1.0, 2.0])
    lists = [(one, two), (two, one), (np.array([1.0, 1.0, 2.0]),), (None, one, two), (one, None, two)]
    assert len({digest(*arrays) for arrays in lists}) == len(lists)


def test_equal_parts_make_equal_objects():
    """Of one type; arrays and words both count, and hashes agree."""
    parcel = Parcel(np.arange(3.0), "a")
    assert parcel == Parcel(np.arange(3.0), "a")
    assert hash(parcel) == hash(Parcel(np.arange(3.0), "a"))
    assert parcel != Parcel(np.arange(4.0), "a")
    assert parcel != Parcel(np.arange(3.0), "b")
    assert parcel != OtherParcel(np.arange(3.0), "a")
    assert parcel != "parcel"
