"""Names of built-in environments."""

from __future__ import annotations

import bisimetric as bm


def test_built_in_names():
    """A name of a built-in environment."""
    assert bm.as_chain("four-rooms:p1").n_states == 40
