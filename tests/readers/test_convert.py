"""Anything that stands for a model becomes one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidChain, InvalidOption
from bisimetric.io.files import SUFFIXES
from bisimetric.readers.convert import READERS


@pytest.mark.parametrize("thing", [3, None, {1}, object()])
def test_what_is_no_chain(thing):
    """Unknown things are named by their type."""
    with pytest.raises(InvalidChain, match=f"of a {type(thing).__name__}"):
        bm.as_chain(thing)


def test_text_that_is_nothing():
    """Neither a file nor a built-in name; bytes are not text; a missing file is an error of the file system."""
    with pytest.raises(InvalidOption, match="text 'no-such-environment'"):
        bm.as_chain("no-such-environment")
    with pytest.raises(InvalidChain, match="bytes"):
        bm.as_chain(BytesPath())
    with pytest.raises((FileNotFoundError, FileFormatError)):
        bm.as_chain(Path("/nowhere/at/all.npz"))


class BytesPath:
    """A path whose text is bytes."""

    def __fspath__(self):
        return b"chain.npz"


def test_decision_processes_from_anything(tmp_path):
    """From themselves, a chain with rewards, a name; arrays lack the rewards, which the message says."""
    mdp = bm.MDP([np.eye(2)], [[0.0], [1.0]])
    assert bm.as_mdp(mdp) is mdp
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    chain.save(tmp_path / "chain.npz")
    assert bm.as_mdp(chain) == bm.as_mdp(tmp_path / "chain.npz") == mdp
    assert bm.as_mdp("four-rooms:p1").n_states == 40
    with pytest.raises(InvalidChain, match=r"MDP\(transitions, rewards\)"):
        bm.as_mdp(np.eye(2))
    with pytest.raises(InvalidChain, match="has no reward"):
        bm.as_mdp(bm.MarkovChain(np.eye(2)))
    with pytest.raises(InvalidChain, match=r"mdp\.under\(policy\)"):
        bm.as_chain(mdp)


def test_a_chain_is_a_process_with_one_action():
    """Rows, rewards, start, names and row errors are those of the chain."""
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    chain = bm.MarkovChain(swap, reward=[1, 2], start=1, names=["a", "b"])
    mdp = bm.as_mdp(chain)
    assert (mdp.n_states, mdp.n_actions) == (2, 1)
    assert mdp.under([0, 0]).transitions.toarray().tolist() == swap.tolist()
    assert (mdp.names, mdp.start.tolist()) == (("a", "b"), [0.0, 1.0])
    thirds = bm.MarkovChain(np.full((3, 3), 1 / 3), reward=[1, 2, 3])
    np.testing.assert_array_equal(bm.as_mdp(thirds).row_error[:, 0], thirds.row_error)
    assert thirds.row_error.any()


def test_every_kind_of_input_is_named():
    """The errors list all readers; the help of `as_chain` has their words."""
    with pytest.raises(InvalidChain) as error:
        bm.as_chain(3)
    listed = " ".join(bm.as_chain.__doc__.split())
    for reader in READERS:
        assert reader.accepts in str(error.value)
    for word in (*SUFFIXES, "Gymnasium", "NetworkX", "hidden Markov", "dict", "DataFrame", "built-in", "stormpy"):
        assert word in listed, word
    with pytest.raises(InvalidOption, match="did you mean 'gym'"):
        bm.as_chain("gymn:FrozenLake-v1")


@pytest.mark.parametrize("name", ["folder", "model.txt", "model.txt,N=3", "nowhere", "\0", "x" * 5000, "four-room:p1"])
def test_texts_that_stand_for_nothing(tmp_path, monkeypatch, name):
    """Folders and files of other endings are called that; kinds of input that are no text are not listed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "model.txt").write_text("x")
    with pytest.raises((FileFormatError, InvalidOption)) as error:
        bm.as_chain(name)
    said = str(error.value)
    assert ("is a folder" in said) == (name == "folder")
    assert ("has an ending that is not known" in said) == name.startswith("model.txt")
    assert ("did you mean 'four-rooms'" in said) == (name == "four-room:p1")
    assert ".json" in said
    assert "DataFrame" not in said


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_text(text):
    """It is not the folder that it would be as a path."""
    with pytest.raises(InvalidOption, match="is empty"):
        bm.as_chain(text)
