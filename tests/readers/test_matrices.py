"""Transition matrices in files."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidChain, InvalidOption


@pytest.fixture
def csv(tmp_path):
    """Write a CSV file and return its path as text."""

    def write(text, name="p.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_csv_with_names(csv):
    """As pandas writes a square frame."""
    chain = bm.as_chain(csv(",idle,busy\nidle,0.5,0.5\nbusy,0,1\n"))
    assert chain.names == ("idle", "busy")
    assert chain.transitions.toarray().tolist() == [[0.5, 0.5], [0, 1]]


def test_npy(tmp_path):
    """As numpy writes an array; paths too."""
    np.save(tmp_path / "p.npy", [[0.5, 0.5], [0, 1]])
    assert bm.as_chain(tmp_path / "p.npy") == bm.MarkovChain([[0.5, 0.5], [0, 1]])


def test_options(csv):
    """Rows are rescaled on request only; rewards are a list or a column; a start is a state."""
    counts = csv("3,1\n0,2\n")
    chain = bm.as_chain(f"{counts},normalise,reward=[0,2.5],start=1")
    assert chain.transitions.toarray().tolist() == [[0.75, 0.25], [0, 1]]
    assert chain.reward.tolist() == [0, 2.5]
    assert chain.start.tolist() == [0, 1]
    rewards = csv("reward\n0\n2.5\n", "r.csv")
    assert bm.as_chain(f"{counts},normalise,reward={rewards},start=1") == chain
    assert bm.as_mdp(f"{counts},normalise,reward={rewards}").n_actions == 1


@pytest.mark.parametrize(
    ("text", "options", "kind", "message"),
    [
        ("3,1\n0,2\n", "", InvalidChain, "FILE,normalise rescales rows, on the command line --normalise-rows"),
        ("nan,1\n0,1\n", "", InvalidChain, "nan"),
        ("0.5,0.5\n", "", FileFormatError, "1 x 2 numbers, expected a square matrix"),
        ("case,step,state\n1,0,a\n1,1,b\n", "", FileFormatError, "an event log"),
        (
            "case,step,state\n1,0,3\n1,1,4\n1,2,3\n2,0,3\n",
            "",
            FileFormatError,
            "(case, step, state), expected a square",
        ),
        (",a,b\nb,0.5,0.5\na,0,1\n", "", FileFormatError, "calls row 0 'b' and column 0 'a'"),
        ("1\n", ",normalize", InvalidOption, "did you mean 'normalise'"),
        ("1\n", ",reward=high", FileFormatError, "a list as in [0,1]"),
        ("1\n", ",reward=[1,2]", InvalidChain, "reward"),
    ],
)
def test_wrong_files(csv, text, options, kind, message):
    """The file, what is wrong in it, the remedy."""
    path = csv(text)
    with pytest.raises(kind, match=r"p\.csv") as error:
        bm.as_chain(path + options)
    assert message in str(error.value)


@given(st.lists(st.lists(st.sampled_from(["", "0", "1", "0.5", "a", "b", "nan", '"x"', " "]), max_size=4), max_size=4))
def test_any_table_gives_a_chain_or_our_error(tmp_path_factory, cells):
    """Whatever cells are names, numbers or neither."""
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_text("\n".join(",".join(row) for row in cells))
    for options in ("", ",normalise"):
        with suppress(FileFormatError, InvalidChain):
            assert bm.as_chain(f"{path}{options}").n_states > 0


def test_matrices_of_actions(tmp_path):
    """A decision process has rewards too."""
    np.save(tmp_path / "p.npy", np.ones((2, 1, 1)))
    with pytest.raises(FileFormatError, match="a decision process needs rewards"):
        bm.as_chain(tmp_path / "p.npy")
