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


@st.composite
def ending_chains(draw):
    """Chains that end; the labels before tell little, so that distances between two are mostly strictly in (0, 1)."""
    n = draw(st.integers(1, 3))
    rows = np.zeros((n + 2, n + 2))
    for state in range(n):
        rows[state] = draw(unit_rows(n + 2)) / 2
        rows[state, -1] += 0.25
        rows[state, -2] += 0.25
    rows[[-1, -2], [-1, -2]] = 1.0
    return bm.MarkovChain(rows, labels=[*("a" * n), "good", "bad"])


def split(chain, state, share):
    """The chain with a copy of a state that gets `share` of what leads there, and which state each state was."""
    rows = chain.transitions.toarray()
    map_back = [*range(len(rows)), state]
    wide = np.hstack([rows, share * rows[:, [state]]])
    wide[:, state] *= 1 - share
    return bm.MarkovChain(wide[map_back], labels=[chain.labels[k] for k in map_back]), map_back


def distances(source, target, **options):
    """The answer, whose interval is checked for what every interval must be."""
    solution = bm.bisimilarity_distance(source, target, discount=1, **options)
    assert (solution.lower <= solution.value).all()
    assert (solution.value <= solution.upper).all()
    assert (solution.lower >= 0).all()
    assert (solution.upper <= 1).all()
    return solution


def coin(heads, end=0.0, **extra):
    """A coin that is tossed until it gets lost; by default forever."""
    toss = [heads * (1 - end), (1 - heads) * (1 - end), end]
    return bm.MarkovChain([toss, toss, [0, 0, 1]], labels=["heads", "tails", "lost"], start=0, **extra)


def fading(n, seed):
    """A random chain that ends in its last state sooner or later; two of them are at distances between 0 and 1."""
    rows = 0.9 * bm.environments.random_chain(n, seed=seed).transitions.toarray() + 0.1 * np.eye(n)[-1]
    rows[-1] = np.eye(n)[-1]
    return bm.MarkovChain(rows, labels=[*("abb" * n)[: n - 1], "end"], start=0)


def die(extra=0.0):
    """Knuth and Yao's die from coins; labels are on the outcomes only."""
    rows = np.zeros((13, 13))
    for state, (heads, tails) in enumerate([(1, 2), (3, 4), (5, 6), (1, 7), (8, 9), (10, 11), (2, 12)]):
        rows[state, heads], rows[state, tails] = 0.5 + extra, 0.5 - extra
    rows[range(7, 13), range(7, 13)] = 1.0
    return bm.MarkovChain(rows, labels=[()] * 7 + [(k,) for k in range(1, 7)], start=0)


def throw():
    """A fair die, thrown once."""
    rows = np.zeros((7, 7))
    rows[0, 1:], rows[range(1, 7), range(1, 7)] = 1 / 6, 1.0
    return bm.MarkovChain(rows, labels=[(), *((k,) for k in range(1, 7))], start=0)
