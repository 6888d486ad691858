"""What is said about a solution, as text and as JSON."""

from __future__ import annotations

import json

import numpy as np

import bisimetric as bm
from bisimetric.cli.outcome import gap_words, has_starts, pair_at, summarise

CHAIN = bm.environments.four_rooms("p1")
WITH_STARTS = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.5)
WITHOUT = bm.solve(bm.Problem(bm.MarkovChain(CHAIN.transitions, reward=CHAIN.reward), CHAIN, discount=0.5))


def test_one_distance_or_a_summary():
    """Starts on both sides give one distance."""
    assert has_starts(WITH_STARTS)
    assert not has_starts(WITHOUT)


def test_a_summary_counts_pairs():
    """All of them, or those of different states of one model once each."""
    whole = summarise(WITHOUT)
    n, m = WITHOUT.value.shape
    assert whole.n_pairs == n * m
    assert whole.zero_pairs == int((WITHOUT.upper == 0).sum())
    assert whole.largest.distance == WITHOUT.value.max()
    itself = summarise(WITHOUT, itself=True)
    assert itself.n_pairs == n * (n - 1) // 2


def test_a_pair_by_its_place():
    """Names, distance and bounds."""
    place = int(np.argmax(WITHOUT.value))
    pair = pair_at(WITHOUT, place)
    assert pair.distance == WITHOUT.value.max()
    assert pair.target == CHAIN.name_of(place % CHAIN.n_states)


def test_a_missed_tolerance_is_said():
    """In words that nobody overlooks."""
    early = bm.solve(WITHOUT.problem, max_steps=1, throw=False)
    assert "NOT REACHED" in gap_words(early)
    assert "NOT REACHED" not in gap_words(WITHOUT)


def test_text_and_document_agree(command):
    """The same distance, to the digits that are printed."""
    words = ("distance", "four-rooms:p1", "four-rooms:p0", "--discount", "0.5")
    document = json.loads(command(*words, "--json").out)
    assert document["distance"] == WITH_STARTS.distance
    assert f"{document['distance']:.6f}"[:6] in command(*words).out
