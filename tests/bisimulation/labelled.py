"""Chains with labels and rows in whole units, so that bisimilarity in floats is bisimilarity."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import bisimetric as bm

UNIT = 16  # probabilities are multiples of 1/UNIT


@st.composite
def unit_rows(draw, n):
    """A row of n probabilities in units: cuts of [0, 1], so that zeros, ties and single successors are common."""
    cuts = sorted(draw(st.lists(st.sampled_from((0, 0, 4, 5, 8, 8, 12, UNIT)), min_size=n - 1, max_size=n - 1)))
    return np.diff([0, *cuts, UNIT]) / UNIT


@st.composite
def labelled_chains(draw, *, max_states=3, letters="ab"):
    """Free, absorbing, periodic or repeated rows, and few labels."""
    n = draw(st.integers(1, max_states))
    kind = draw(st.sampled_from(("free", "free", "absorbing", "periodic", "repeated")))
    rows = np.array([draw(unit_rows(n)) for _ in range(n)])
    if kind == "periodic":
        rows = np.roll(np.eye(n), 1, axis=1)
    elif kind == "absorbing":
        rows[-1] = np.eye(n)[-1]
    elif kind == "repeated":
        rows[:] = rows[0]
    return bm.MarkovChain(rows, labels=[draw(st.sampled_from(letters)) for _ in range(n)])


def split(chain, state, share):
    """The chain with a copy of a state that gets `share` of what leads there, and which state each state was."""
    rows = chain.transitions.toarray()
    map_back = [*range(len(rows)), state]
    wide = np.hstack([rows, share * rows[:, [state]]])
    wide[:, state] *= 1 - share
    return bm.MarkovChain(wide[map_back], labels=[chain.labels[k] for k in map_back]), map_back
