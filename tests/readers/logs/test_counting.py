"""Counts agree with a naive oracle, wherever the rows of a sequence are."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.readers.logs import sources
from bisimetric.readers.logs.columns import Log
from bisimetric.readers.logs.counting import counted
from bisimetric.readers.logs.sources import Roles

SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=8), min_size=1, max_size=6)


def naive(sequence, order, *, end):
    """Transitions of one sequence, and its first state."""
    states = [tuple(sequence[i : i + order]) for i in range(len(sequence) - order + 1)]
    states += [()] if end and states else []
    return Counter(pairwise(states)), states[0] if states else None


def as_frame(sequences, random):
    """A row for every step, shuffled so that sequences are mixed but each is in order."""
    left = [list(enumerate(sequence)) for sequence in sequences]
    rows = []
    while any(left):
        k = random.choice([k for k, rest in enumerate(left) if rest])
        rows.append((k, *left[k].pop(0)))
    return pd.DataFrame(rows, columns=["who", "when", "what"])


@given(SEQUENCES, st.integers(1, 3), st.booleans(), st.integers(1, 5), st.randoms(use_true_random=False), st.booleans())
def test_every_sequence_contributes_what_the_oracle_says(sequences, order, end, batch_rows, random, shuffled):
    """In batches of any size, with rows of sequences mixed, and with steps that go backwards."""
    frame = as_frame(sequences, random)
    if shuffled:
        frame = frame.sample(frac=1, random_state=random.randint(0, 99))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "BATCH_ROWS", batch_rows)
        log = Log(frame, Roles("who", "when", "what"))
        found = counted(log, order, end=end)
    for number, who in enumerate(log.sequences.values):
        moves, first = naive(sequences[who], order, end=end)
        row = found.sequences.counts[[number]].toarray()[0]
        ends = zip(found.sequences.source, found.sequences.target, row, strict=True)
        assert {(found.states[a], found.states[b]): n for a, b, n in ends if n} == dict(moves)
        start = found.sequences.start[number]
        assert (None if start < 0 else found.states[start]) == first
    assert found.rows == len(frame)


def test_rewards_are_summed_per_sequence_and_state():
    """Every row counts, the last one too."""
    frame = pd.DataFrame({"who": [1, 1, 2, 2], "what": list("abab"), "worth": [1.0, 2.0, 5.0, 7.0]})
    found = counted(Log(frame, Roles("who", None, "what", "worth")), 1, end=False)
    assert found.sequences.reward.toarray().tolist() == [[1, 2], [5, 7]]
    assert found.sequences.visits.toarray().tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("batch_rows", [1, 2, 10])
def test_equal_steps_are_refused(monkeypatch, batch_rows):
    """Their order is not known; the message names the sequence and the step."""
    monkeypatch.setattr(sources, "BATCH_ROWS", batch_rows)
    frame = pd.DataFrame({"who": list("uvu"), "when": [4, 4, 4], "what": list("abc")})
    with pytest.raises(bm.errors.InvalidData, match=r"'u' has the step 4 twice.*no step"):
        counted(Log(frame, Roles("who", "when", "what")), 1, end=False)


def test_equal_times_are_shown_as_times():
    """And not as seconds since 1970."""
    times = pd.to_datetime(["2024-03-31T09:30", "2024-03-31T09:30"]).tz_localize("Europe/Berlin")
    frame = pd.DataFrame({"who": [1, 1], "when": times, "what": list("ab")})
    with pytest.raises(bm.errors.InvalidData, match=r"the step 2024-03-31 09:30:00.* twice"):
        bm.from_trajectories(frame, sequence="who", step="when", state="what")


def test_too_many_states_of_a_higher_order(monkeypatch):
    """Pairs of many states are many more."""
    monkeypatch.setattr("bisimetric.readers.logs.counting.MOST_LOG_STATES", 10)
    with pytest.raises(bm.errors.InvalidData, match=r"order=2.*lower order"):
        counted(Log([list(np.random.default_rng(0).integers(0, 9, 100))], Roles(None, None, None)), 2, end=False)
