"""Chains on classes of states."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.models.lumping import lump


def test_lumping_is_measured():
    """The largest 1-norm between lumped rows of a class, and the row error that comes with it."""
    chain = bm.MarkovChain([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0, 0, 1]], reward=[0, 0, 1])
    small = lump(chain, np.array([0, 0, 1]))
    assert (small.moved.tolist(), small.chain.row_error.tolist()) == ([0, 0], [0, 0])
    rough = lump(chain, np.array([0, 1, 1]))
    assert rough.moved.tolist() == [0.0, 0.5]
    assert rough.chain.row_error.tolist() == [0.0, 0.5]
