"""Values get numbers in the order of their first appearance."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.readers.logs.codes import Codes


def test_numbers_follow_first_appearance():
    """Also across calls."""
    codes = Codes("page")
    assert codes.of(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert codes.of(["c", "a"]).tolist() == [2, 1]
    assert codes.values == ["b", "a", "c"]


def test_whole_floats_and_numbers_of_numpy_are_whole_numbers():
    """Frames make floats of whole numbers where a column once had gaps."""
    codes = Codes("page")
    assert codes.of([3.0, np.int8(3), 3]).tolist() == [0, 0, 0]
    assert codes.values == [3]


@pytest.mark.parametrize(
    "values",
    [["1", 1], [True, 2], [1, True], [True, 1.0], [1, np.True_], [1, Decimal(1)], [("a", "b"), "a"], [0.5], [b"a"]],
)
def test_mixed_and_odd_values_are_refused(values):
    """The message names the column."""
    with pytest.raises(bm.errors.InvalidData, match="page"):
        Codes("page").of(values)


def test_mixed_values_are_refused_across_calls():
    """True is equal to 1, and no less of another kind."""
    codes = Codes("page")
    codes.of([1, 0])
    with pytest.raises(bm.errors.InvalidData, match="both whole numbers and true or false"):
        codes.of([True])


def test_there_is_a_limit():
    """With the remedy."""
    with pytest.raises(bm.errors.InvalidData, match=r"more than 3 .* group"):
        Codes("page", 3, "group them").of(range(5))
