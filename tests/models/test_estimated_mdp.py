"""Decision processes with the counts that they were estimated from."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

import bisimetric as bm

FRAME = pd.DataFrame(
    {
        "who": [1, 1, 1, 2, 2],
        "what": ["a", "b", "a", "a", "c"],
        "how": ["go", "go", "stay", "stay", "go"],
        "worth": [1.0, 0.0, 3.0, 5.0, 2.0],
    }
)


@pytest.fixture
def mdp():
    """Five steps of two sequences."""
    return bm.from_trajectories(FRAME, sequence="who", state="what", action="how", reward="worth")


def test_counts_visits_and_rewards(mdp):
    """The reward of a state and action is the mean over its rows, its last ones too."""
    assert mdp.visits.tolist() == [[1, 1], [1, 0], [0, 0]]
    assert mdp.rewards.tolist() == [[1, 4], [0, 0], [0, 0]]
    assert mdp.start_counts.tolist() == [2, 0, 0]
    assert (mdp.n_sequences, mdp.n_transitions) == (2, 3)


def test_states_without_data_are_absorbing(mdp):
    """And noted."""
    assert mdp.unseen.tolist() == [False, False, True]
    assert all(matrix.toarray()[2].tolist() == [0, 0, 1] for matrix in mdp.transitions)
    assert any("absorbing" in note for note in mdp.notes)


def test_it_is_a_decision_process_wherever_one_is_taken(mdp):
    """Metrics and pickles."""
    assert bm.bisimulation_metric(mdp, discount=0.5, actions="matched").value.shape == (3, 3)
    assert pickle.loads(pickle.dumps(mdp)) == mdp
    with pytest.raises(bm.errors.InvalidChain, match="transition"):
        bm.from_trajectories(FRAME[:1], sequence="who", state="what", action="how", reward="worth")
