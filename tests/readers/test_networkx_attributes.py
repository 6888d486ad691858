"""Nodes of graphs and their attributes."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.errors import InvalidChain
from bisimetric.readers.networkx_attributes import checked_law, names_of, number


def test_names():
    """Only the numbers 0, 1, … in order need none; True is no number here."""
    assert names_of([0, 1, 2]) is None
    assert names_of([1, 0]) == ["1", "0"]
    assert names_of([False, True]) == ["False", "True"]


def test_numbers():
    """Of Python and numpy; all else is none."""
    assert [number(value) for value in (1, np.float32(0.5), np.int8(3))] == [1.0, 0.5, 3.0]
    assert np.isnan([number(value) for value in ("1", None, True, np.bool_(True), [1], 1j)]).all()


def test_laws():
    """Probabilities; the node is named where it has none."""
    assert checked_law([0.5, 0.5], "ab").tolist() == [0.5, 0.5]
    with pytest.raises(InvalidChain, match="2 at the node 'b'"):
        checked_law([0.5, 2], "ab")
