"""From logs to chains and decision processes with counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bisimetric as bm

VISITS = [["home", "cart", "paid"], ["home", "help", "home", "cart"], ["help", "home"]]
FRAME = pd.DataFrame(
    [(f"s{k}", t, page, float(t)) for k, visit in enumerate(VISITS) for t, page in enumerate(visit)],
    columns=["session", "time", "page", "worth"],
)
COLUMNS = {"sequence": "session", "step": "time", "state": "page"}


def test_lists_and_frames_give_the_same_chain():
    """States are sorted, rows are shares, starts are shares of first states."""
    chain = bm.from_trajectories(VISITS)
    assert chain == bm.from_trajectories(FRAME, **COLUMNS)
    assert chain == bm.from_trajectories(FRAME[::-1], **COLUMNS)
    assert chain == bm.from_trajectories(dict(enumerate(VISITS)))
    assert chain.names == ("cart", "help", "home", "paid")
    assert np.allclose(chain.transitions.toarray()[2], [2 / 3, 1 / 3, 0, 0])
    assert np.allclose(chain.start, [0, 1 / 3, 2 / 3, 0])
    assert chain.labels == chain.names


def test_nothing_is_silent():
    """Sorting, short sequences and states that are never left are noted."""
    notes = bm.from_trajectories(FRAME[::-1], **COLUMNS).notes
    assert any("sorted" in note for note in notes)
    assert any("absorbing" in note for note in notes)
    assert any("1 of 4 sequences" in note for note in bm.from_trajectories([*VISITS, ["help"]]).notes)


def test_a_path_with_options_is_a_chain(tmp_path):
    """As the command line and `as_chain` take it."""
    FRAME.to_parquet(tmp_path / "visits.parquet")
    text = f"{tmp_path / 'visits.parquet'},sequence=session,step=time,state=page"
    assert bm.as_chain(text) == bm.from_trajectories(VISITS)
    assert bm.as_chain(f"{text},end").names[-1] == "(end)"
    with pytest.raises(bm.errors.InvalidOption, match="stat"):
        bm.as_chain(f"{tmp_path / 'visits.parquet'},stat=page")


def test_a_csv_file_is_a_log_where_columns_are_named(tmp_path):
    """Else it is a matrix; a column that is missing is asked for by its role."""
    path = tmp_path / "visits.csv"
    FRAME.to_csv(path, index=False)
    assert bm.as_chain(f"{path},sequence=session,step=time,state=page") == bm.from_trajectories(VISITS)
    assert bm.as_mdp(f"{path},sequence=session,step=time,state=page,reward=worth").n_actions == 1
    with pytest.raises(bm.errors.FileFormatError, match="sequence=COLUMN"):
        bm.as_chain(path)
    for given, missing in (("state=page", "sequence"), ("sequence=session,step=time", "state")):
        with pytest.raises(bm.errors.InvalidOption, match=f"{missing} is missing"):
            bm.as_chain(f"{path},{given}")


def test_numbers_as_states_are_in_their_order():
    """10 comes after 9, and names are texts."""
    assert bm.from_trajectories([[10, 9, 10, 2]]).names == ("2", "9", "10")


def test_given_states_have_their_order_and_may_be_unseen():
    """One that is not given is an error."""
    chain = bm.from_trajectories(VISITS, states=["paid", "home", "cart", "help", "login"])
    assert chain.names == ("paid", "home", "cart", "help", "login")
    assert chain.unseen.tolist() == [True, False, False, False, True]
    with pytest.raises(bm.errors.InvalidData, match="'paid'"):
        bm.from_trajectories(VISITS, states=["home", "cart", "help"])
    with pytest.raises(bm.errors.InvalidOption, match="different"):
        bm.from_trajectories(VISITS, states=["home", "home"])


def test_pairs_as_states():
    """The label of a pair is its last value, so that costs compare where chains are now."""
    chain = bm.from_trajectories(VISITS, order=2)
    assert chain.names == ("cart → paid", "help → home", "home → cart", "home → help")
    assert chain.labels == ("paid", "home", "cart", "help")
    assert chain.start_counts.tolist() == [0, 1, 1, 1]


def test_the_end_of_a_sequence_as_a_state():
    """It is absorbing by definition and not a state without data."""
    chain = bm.from_trajectories(VISITS, end="left")
    assert chain.names[-1] == "left"
    assert chain.ends.tolist() == [False, False, False, False, True]
    assert not chain.unseen.any()
    assert chain.transitions.toarray()[-1].tolist() == [0, 0, 0, 0, 1]
    assert chain.counts.toarray()[:, -1].sum() == len(VISITS)
    assert bm.from_trajectories(VISITS, end="left", unseen="drop") == chain
    smooth = bm.from_trajectories(VISITS, end="left", smoothing=1)
    assert smooth.transitions.toarray()[-1].tolist() == [0, 0, 0, 0, 1]
    with pytest.raises(bm.errors.InvalidData, match="'home'"):
        bm.from_trajectories(VISITS, end="home")


def test_rewards_and_actions():
    """Means per state; with actions a decision process whose actions are those that were taken."""
    assert np.allclose(bm.from_trajectories(FRAME, **COLUMNS, reward="worth").reward, [2, 0.5, 0.75, 2])
    taken = FRAME.assign(how=["left", "right", "left", "left", "left", "right", "right", "left", "right"])
    mdp = bm.from_trajectories(taken, **COLUMNS, reward="worth", action="how")
    assert isinstance(mdp, bm.MDP)
    assert mdp.actions == ("left", "right")
    assert mdp.counts[1].toarray().tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert mdp.available.tolist() == [[False, True], [True, False], [True, True], [True, True]]
    assert np.allclose(mdp.rewards[2], [0, 1.5])
    assert mdp.under("uniform").n_states == 4


BAD = {
    "nothing": ([], {}, "empty"),
    "an empty frame": (FRAME[:0], COLUMNS, "empty"),
    "sequences of one row": ([["a"], ["b"]], {}, "two rows"),
    "a million states": (np.arange(400_000).reshape(-1, 2), {}, "100000 .*group"),
    "two types": ([["a", 1]], {}, "astype"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_logs(what):
    """Each error says what to do."""
    data, options, message = BAD[what]
    with pytest.raises(bm.errors.InvalidData, match=message):
        bm.from_trajectories(data, **options)


@pytest.mark.parametrize(
    "options",
    [{"unseen": "smoothing"}, {"smoothing": 0}, {"smoothing": -1}, {"order": 0}, {"order": 9}, {"end": 3}],
)
def test_bad_options(options):
    """Rules have names, numbers have ranges."""
    with pytest.raises(bm.errors.InvalidOption):
        bm.from_trajectories(VISITS, **options)


def test_actions_need_rewards():
    """A decision process without them compares nothing."""
    with pytest.raises(bm.errors.InvalidOption, match="reward="):
        bm.from_trajectories(FRAME, **COLUMNS, action="page")


def test_decision_processes_keep_all_states():
    """States that are never left absorb; leaving them out is refused, since it would be silent."""
    with pytest.raises(bm.errors.InvalidOption, match="unseen='drop'"):
        bm.from_trajectories(FRAME.assign(paid=1.0), **COLUMNS, action="page", reward="paid", unseen="drop")
