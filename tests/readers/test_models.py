"""Models are themselves."""

from __future__ import annotations

import bisimetric as bm


def test_chains_stay_themselves():
    """The same object comes back."""
    chain = bm.MarkovChain([[1.0]])
    assert bm.as_chain(chain) is chain
