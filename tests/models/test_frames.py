"""Data frames: labels become names, and what is no transition matrix is told so."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain, InvalidProblem

ROWS = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0]]
FRAME = pd.DataFrame(ROWS, index=["a", "b", "c"], columns=["a", "b", "c"])


@pytest.mark.parametrize("make", [bm.as_chain, bm.MarkovChain, bm.MarkovChain.normalised])
def test_labels_become_names(make):
    """Columns in any order; other names, and default labels, are left alone."""
    chain = bm.MarkovChain(ROWS, names=["a", "b", "c"])
    assert make(FRAME) == make(FRAME[["c", "a", "b"]]) == chain
    assert make(pd.DataFrame(ROWS)) == bm.MarkovChain(ROWS)
    numbered = pd.DataFrame(ROWS, index=[3, 1, 2], columns=[1, 2, 3])
    assert make(numbered).names == ("3", "1", "2")
    assert make(numbered).transitions.toarray()[0].tolist() == [0.0, 0.5, 0.5]
    if make is not bm.as_chain:
        assert make(FRAME, names=["x", "y", "z"]).names == ("x", "y", "z")


@pytest.mark.parametrize("dtype", ["float32", "Float64", pd.SparseDtype("float64", 0.0)])
def test_types_of_columns(dtype):
    """Single precision, nullable and sparse columns."""
    assert bm.as_chain(FRAME.astype(dtype)) == bm.as_chain(FRAME)
    thirds = pd.DataFrame(np.full((3, 3), 1 / 3, np.float32))
    assert bm.as_chain(thirds).n_states == 3  # within the tolerance of single precision


def test_counts():
    """Refused with the remedy, which takes them."""
    log = pd.DataFrame({"session": [1, 1, 1, 2, 2], "step": [0, 1, 2, 0, 1], "state": list("abaab")})
    counts = pd.crosstab(log.state, log.groupby("session").state.shift(-1)).reindex(
        index=["a", "b"], columns=["a", "b"], fill_value=0
    )
    with pytest.raises(InvalidChain, match=r"MarkovChain\.normalised"):
        bm.as_chain(counts)
    assert bm.MarkovChain.normalised(counts).transitions.toarray().tolist() == [[0, 1], [1, 0]]
    for thing in (log, log.drop(columns="state"), log.to_numpy()[:, :2].astype(float), log[["state"]]):
        with pytest.raises(InvalidChain, match="from_trajectories"):
            bm.as_chain(thing)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.rename(columns={"c": "d"}), "the same states on both sides"),
        (FRAME.reset_index(drop=True), "index_col=0"),
        (FRAME.rename(columns={"b": "a"}), "'a' twice in its columns"),
        (FRAME.rename(index={"b": "a"}), "'a' twice in its index"),
        (FRAME.where(FRAME > 0), "missing values"),
        (FRAME.astype("Float64").where(FRAME > 0), "missing values"),
        (FRAME.astype(str), "'a' holds no numbers"),
        (FRAME.reset_index(names="state"), r"set_index\('state'\)"),
        (FRAME.iloc[:2], "2 rows and the columns 'a', 'b', 'c'"),
        (pd.DataFrame(), "empty"),
        (pd.DataFrame([[1.0, 0.0], [0.0, 1.0]], index=[1, "1"], columns=[1, "1"]), "'1' occurs twice"),
    ],
)
def test_what_is_wrong_with_a_frame(frame, message):
    """What was found, and what to do."""
    with pytest.raises(InvalidChain, match=message):
        bm.as_chain(frame)


def test_series_follow_the_names():
    """Rewards and starts over the same labels are put into order, others are refused."""
    values = pd.Series({"c": 3.0, "a": 1.0, "b": 2.0})
    chain = bm.MarkovChain(FRAME, reward=values, start=values / 6)
    assert chain.reward.tolist() == [1.0, 2.0, 3.0]
    assert chain.start.argmax() == 2
    assert bm.MarkovChain(FRAME, reward=pd.Series([1.0, 2.0, 3.0])).reward.tolist() == [1.0, 2.0, 3.0]
    assert bm.MarkovChain(ROWS, reward=values).reward.tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(InvalidChain, match="reward is a series over 'c', 'a', expected"):
        bm.MarkovChain(FRAME, reward=values[:2])


def test_frames_of_decision_processes():
    """One per action, in any order of the same labels."""
    other = FRAME.loc[["c", "b", "a"], ["b", "a", "c"]]
    mdp = bm.MDP([FRAME, other, np.eye(3)], np.zeros((3, 3)))
    assert mdp.names == ("a", "b", "c")
    assert (mdp.transitions[0] != mdp.transitions[1]).nnz == 0
    with pytest.raises(InvalidChain, match=r"transitions\[1\] has other states"):
        bm.MDP([FRAME, FRAME.rename(index={"a": "x"}, columns={"a": "x"})], np.zeros((3, 2)))


class Unindexed:
    """Stands for a frame of polars."""

    columns, dtypes = ["a", "b"], ["Float64", "Int64"]

    def __len__(self):
        return 2

    def to_numpy(self):
        """The numbers."""
        return np.eye(2)


def test_frames_without_an_index():
    """Rows are in the order of the columns."""
    assert bm.MarkovChain(Unindexed()) == bm.MarkovChain(np.eye(2), names=["a", "b"])


LABELS = st.sampled_from(["a", "b", 0, 1, "0", None, np.nan, (1, 2), pd.Timestamp(0)])
ENTRIES = st.sampled_from([0.0, 0.5, 1.0, np.nan, None, "x", True, 3])


@given(st.data(), st.integers(0, 3), st.integers(0, 3))
def test_any_frame(data, rows, columns):
    """A chain, or an error of ours."""
    entries = [[data.draw(ENTRIES) for _ in range(columns)] for _ in range(rows)]
    index, heads = ([data.draw(LABELS) for _ in range(size)] for size in (rows, columns))
    frame = pd.DataFrame(entries, index=index, columns=heads)
    makes = (bm.as_chain, bm.MarkovChain.normalised, lambda one: bm.MDP([one, one], np.zeros((rows, 2))))
    for make in makes:
        with suppress(BisimetricError):
            make(frame)
    for series in (frame.squeeze(), *(frame.iloc[:, k] for k in range(columns))):
        with suppress(BisimetricError):
            bm.MarkovChain(np.eye(2), names=["a", "b"], reward=series, start=series, labels=series)


def test_labels_and_costs_in_frames_follow_the_names():
    """A series of labels and a frame of costs are put into the order of the states, or refused."""
    chain = bm.MarkovChain(np.full((3, 3), 1 / 3), names=["x", "y", "z"], reward=[0, 0, 0])
    labels = pd.Series(["c", "b", "a"], index=["z", "y", "x"])
    assert bm.MarkovChain(chain.transitions, names=chain.names, labels=labels).labels == ("a", "b", "c")
    assert bm.MDP([chain.transitions], np.zeros((3, 1)), names=chain.names, labels=labels).labels == ("a", "b", "c")
    cost = pd.DataFrame(np.arange(9.0).reshape(3, 3), index=list("zyx"), columns=list("xzy"))
    found = bm.Problem(chain, chain, discount=0.9, cost=cost).cost
    assert found.tolist() == cost.loc[list("xyz"), list("xyz")].to_numpy().tolist()
    by_place = pd.DataFrame(cost.to_numpy())  # without labels of its own
    assert bm.Problem(chain, chain, discount=0.9, cost=by_place).cost.tolist() == cost.to_numpy().tolist()
    with pytest.raises(InvalidProblem, match="expected the states"):
        bm.Problem(chain, chain, discount=0.9, cost=cost.rename(index={"x": "u"}))
    with pytest.raises(InvalidChain, match="expected the states"):
        bm.MarkovChain(chain.transitions, names=chain.names, labels=labels.rename({"x": "u"}))
    with pytest.raises(InvalidProblem, match="expected the states"):
        bm.certify(bm.Problem(chain, chain, discount=0.9), cost.rename(columns={"x": "u"}))


def test_a_dict_is_no_series_of_rewards():
    """The remedy says how to make one."""
    with pytest.raises(InvalidChain, match=r"reward is a dict.*pd\.Series"):
        bm.MarkovChain(np.eye(2), names=["a", "b"], reward={"a": 1, "b": 2})
