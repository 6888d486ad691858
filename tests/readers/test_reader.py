"""A new kind of input is one reader."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain
from bisimetric.readers import convert
from bisimetric.readers.reader import Reader, is_from


class Graph:
    """Stands for an object of another package."""


class SpecialGraph(Graph):
    """Inherits from it."""


def test_a_new_reader_is_one_line(monkeypatch):
    """It recognises its input by the package that defines the type, and errors name it."""
    graphs = Reader("a graph", lambda obj: is_from(obj, "tests"), lambda obj: bm.MarkovChain([[1.0]], reward=[1.0]))
    monkeypatch.setattr(convert, "READERS", (*convert.READERS, graphs))
    assert bm.as_chain(SpecialGraph()) == bm.MarkovChain([[1.0]], reward=[1.0])
    assert bm.as_mdp(Graph()).n_actions == 1
    assert not is_from([], "tests")
    for make in (bm.as_chain, bm.as_mdp):
        with pytest.raises(InvalidChain, match="or a graph"):
            make(3)
