"""Distances between named things, from whatever holds them."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.tables import as_table, symmetric


def test_solutions():
    """The states are the rows and columns; states without names go by their number."""
    one = bm.MarkovChain(np.eye(2), reward=[0, 1], names=["a", "b"])
    other = bm.MarkovChain(np.eye(3), reward=[0, 1, 2])
    table = as_table(bm.distance(one, other, discount=0.5))
    assert (table.rows, table.columns) == (["a", "b"], ["0", "1", "2"])
    assert "and a chain of 3 states" in table.title
    assert table.axes == ("state of the source", "state of the target")


def test_tables_of_chains():
    """Chains that were read from texts have their names; those of other chains can be given."""
    rooms = ["small-four-rooms:a", "small-four-rooms:b"]
    found = bm.pairwise(rooms, [*rooms, "grid-3x3"], discount=0.5)
    assert as_table(found).columns == [*rooms, "grid-3x3"]
    assert as_table(found, (["x", "y"], [1, None, 3])).columns == ["1", "", "3"]
    assert "2 and 3 chains" in as_table(found).title


def test_arrays():
    """Any matrix; NaN is not known."""
    table = as_table(np.array([[0, np.nan, 1.0]]))
    assert np.isnan(table.values[0, 1])
    assert not table.named
    with pytest.raises(InvalidOption, match="names is one list"):
        as_table(np.zeros((2, 3)), ["a", "b"])
    with pytest.raises(InvalidOption, match="names has 1 entries"):
        as_table(np.zeros((2, 2)), ["a"])
    with pytest.raises(InvalidOption, match="names is a str"):
        as_table(np.zeros((2, 2)), "ab")
    with pytest.raises(InvalidOption, match="at least one entry"):
        as_table(np.zeros((0, 2)))


def test_symmetry():
    """Small differences are averaged, others refused."""
    assert symmetric(as_table([[1, 2], [2 + 1e-9, 0]])).values == pytest.approx(np.array([[0, 2], [2, 0]]))
    with pytest.raises(InvalidOption, match="not symmetric"):
        symmetric(as_table([[0, 2], [1, 0]]))
