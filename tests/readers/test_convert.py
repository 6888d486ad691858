"""Anything that stands for a model; and the one-line way to a distance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidChain, InvalidOption
from bisimetric.readers import convert
from bisimetric.readers.reader import Reader, is_from


@pytest.mark.parametrize("form", [np.asarray, list, tuple, sparse.csr_array, sparse.coo_matrix])
def test_matrices_become_chains(form):
    """Arrays, nested lists and sparse matrices."""
    assert bm.as_chain(form(np.eye(2))).transitions.toarray().tolist() == [[1, 0], [0, 1]]


def test_chains_stay_themselves():
    """The same object comes back."""
    chain = bm.MarkovChain([[1.0]])
    assert bm.as_chain(chain) is chain


def test_built_in_names():
    """A name of a built-in environment."""
    assert bm.as_chain("four-rooms:p1").n_states == 40


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files(tmp_path, suffix):
    """A chain that was saved, by path or by text."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    path = tmp_path / f"chain{suffix}"
    chain.save(path)
    for given in (path, str(path)):
        assert bm.as_chain(given).transitions.toarray().tolist() == [[0.5, 0.5], [0, 1]]


def test_a_solution_is_not_a_chain(tmp_path):
    """The message says where its models are."""
    chain = bm.MarkovChain([[1.0]], reward=[0.0])
    path = tmp_path / "solution.npz"
    bm.solve(bm.Problem(chain, chain, discount=0.5)).save(path)
    with pytest.raises(InvalidChain, match=r"holds a solution, expected a model; solution\.problem"):
        bm.as_chain(path)


@pytest.mark.parametrize("thing", [3, None, {"a": 1}, object()])
def test_what_is_no_chain(thing):
    """Unknown things are named by their type."""
    with pytest.raises(InvalidChain, match=f"cannot make a chain of a {type(thing).__name__}"):
        bm.as_chain(thing)


def test_text_that_is_nothing():
    """Neither a file nor a built-in name; bytes are not text; a missing file is an error of the file system."""
    with pytest.raises(InvalidOption, match="cannot make a chain of the text 'no-such-environment', expected a Markov"):
        bm.as_chain("no-such-environment")
    with pytest.raises(InvalidChain, match="bytes"):
        bm.as_chain(BytesPath())
    with pytest.raises((FileNotFoundError, FileFormatError)):
        bm.as_chain(Path("/nowhere/at/all.npz"))


class BytesPath:
    """A path whose text is bytes."""

    def __fspath__(self):
        return b"chain.npz"


def test_distance_is_problem_and_solve():
    """All options reach the problem and the solver."""
    left, right = [[0.5, 0.5], [0, 1]], np.eye(2)
    cost = [[0.0, 1.0], [2.0, 0.5]]
    short = bm.distance(left, right, discount=0.8, cost=cost, normalised=True, tol=1e-6)
    problem = bm.Problem(bm.MarkovChain(left), bm.MarkovChain(right), discount=0.8, cost=cost, normalised=True)
    assert np.array_equal(short.value, bm.solve(problem, tol=1e-6).value)
    assert short.problem.normalised
    assert bm.distance(left, left, discount=0.5, cost=np.zeros((2, 2))).gap == 0.0


class Graph:
    """Stands for an object of another package."""


class SpecialGraph(Graph):
    """Inherits from it."""


def test_a_new_reader_is_one_line(monkeypatch):
    """It recognises its input by the package that defines the type, and errors name it."""
    graphs = Reader("a graph", lambda obj: is_from(obj, "tests"), lambda obj: bm.MarkovChain([[1.0]], reward=[1.0]))
    monkeypatch.setattr(convert, "READERS", (*convert.READERS, graphs))
    assert bm.as_chain(SpecialGraph()) == bm.MarkovChain([[1.0]], reward=[1.0])
    assert bm.as_mdp(Graph()).n_actions == 1
    assert not is_from([], "tests")
    for make in (bm.as_chain, bm.as_mdp):
        with pytest.raises(InvalidChain, match="or a graph"):
            make(3)


def test_decision_processes_from_anything(tmp_path):
    """From themselves, a chain with rewards, a name; arrays lack the rewards, which the message says."""
    mdp = bm.MDP([np.eye(2)], [[0.0], [1.0]])
    assert bm.as_mdp(mdp) is mdp
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    chain.save(tmp_path / "chain.npz")
    assert bm.as_mdp(chain) == bm.as_mdp(tmp_path / "chain.npz") == mdp
    assert bm.as_mdp("four-rooms:p1").n_states == 40
    with pytest.raises(InvalidChain, match=r"of a ndarray, expected .*; MDP\(transitions, rewards\) makes one"):
        bm.as_mdp(np.eye(2))
    with pytest.raises(InvalidChain, match="has no reward"):
        bm.as_mdp(bm.MarkovChain(np.eye(2)))
    with pytest.raises(InvalidChain, match=r"mdp\.under\(policy\)"):
        bm.as_chain(mdp)
