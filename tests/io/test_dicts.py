"""Models and solutions as dicts and in open files: exact round trips, and errors that say what is wrong."""

from __future__ import annotations

import io
import json
import os
import tempfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import BisimetricError, FileFormatError, InvalidChain, InvalidOption
from tests.io.io_samples import (
    assert_same_chain,
    assert_same_mdp,
    assert_same_mdp_solution,
    assert_same_solution,
    chains,
    mdp_solutions,
    mdps,
    solutions,
)

SAMPLES = [
    *((thing, assert_same_chain) for thing in chains().values()),
    *((thing, assert_same_mdp) for thing in mdps().values()),
    *((thing, assert_same_solution) for name, thing in solutions().items() if name != "rooms"),
    *((thing, assert_same_mdp_solution) for name, thing in mdp_solutions().items() if name != "rooms"),
]


@pytest.mark.parametrize(("thing", "assert_same"), SAMPLES)
def test_a_dict_comes_back_as_it_was(thing, assert_same):
    """Through JSON text without NaN, to the last bit."""
    text = json.dumps(thing.to_dict(), allow_nan=False, ensure_ascii=False)  # escapes would join halves of characters
    assert_same(thing, type(thing).from_dict(json.loads(text)))


@pytest.mark.parametrize(("thing", "assert_same"), [SAMPLES[2], SAMPLES[9], SAMPLES[13]])
def test_open_files(thing, assert_same, tmp_path):
    """Binary and text, in memory, temporary or on disk, JSON and npz: `load` finds out by itself."""
    for format in ("json", "npz", None):
        memory = io.BytesIO()
        thing.save(memory, format=format)
        assert memory.getvalue().startswith(b"{" if format == "json" else b"PK")
        memory.seek(0)
        assert_same(thing, bm.load(memory))
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8", errors="surrogatepass") as text:
        bm.save(thing, text)
        text.seek(0)
        assert_same(thing, bm.load(text))
    with open(tmp_path / "thing", "wb") as file:
        bm.save(thing, file)
    with open(tmp_path / "thing", "rb") as file:
        assert_same(thing, bm.load(file))


def test_pipes():
    """What cannot be rewound is read to its end."""
    chain = chains()["all parts"]
    for format in ("json", "npz"):
        read, write = os.pipe()
        with open(write, "wb") as into:
            bm.save(chain, into, format=format)
        with open(read, "rb") as out:
            assert_same_chain(chain, bm.load(out))


def test_files_that_cannot_be_used(tmp_path):
    """Closed, opened the wrong way, empty, of another kind: one line that says so."""
    chain = chains()["bare"]
    with open(tmp_path / "a.json", "w") as file:
        with pytest.raises(FileFormatError, match="open it for reading"):
            bm.load(file)
        with pytest.raises(InvalidOption, match="takes text"):
            bm.save(chain, file, format="npz")
    with pytest.raises(FileFormatError, match="open it for writing"):
        bm.save(chain, file)
    with pytest.raises(FileFormatError, match=r"a\.json"):
        bm.load(file)
    with pytest.raises(FileFormatError, match=r"seek\(0\)"):
        bm.load(io.BytesIO())
    with pytest.raises(FileFormatError, match="not JSON"):
        bm.load(io.StringIO("digraph {}"))
    with pytest.raises(FileFormatError, match="zip archive"):
        bm.load(io.BytesIO(b"PK and nothing else"))
    with pytest.raises(InvalidOption, match="leave format= out"):
        bm.save(chain, tmp_path / "b.npz", format="json")
    with pytest.raises(InvalidOption, match="did you mean 'json'"):
        bm.save(chain, io.BytesIO(), format="jsn")


def test_dicts_by_hand():
    """Arrays and tuples are lists; the class says what a dict without a format is."""
    chain = bm.MarkovChain.from_dict({"transitions": np.eye(2), "reward": (1, np.float32(2)), "start": 0})
    assert chain == bm.MarkovChain(np.eye(2), reward=[1, 2], start=0)
    mdp = bm.MDP.from_dict({"transitions": [np.eye(2, dtype=int)], "rewards": np.zeros((2, 1))})
    assert mdp == bm.MDP([np.eye(2)], np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("kind", "document", "message"),
    [
        (bm.MarkovChain, {"transition": [[1]]}, "did you mean 'transitions'"),
        (bm.MarkovChain, {"transitions": [[1]], "rewards": [1]}, "did you mean 'reward'"),
        (bm.MarkovChain, {}, "transitions is missing"),
        (bm.MarkovChain, {"transitions": [[0.5]]}, "sums to 0.5"),
        (bm.MarkovChain, mdps()["bare"].to_dict(), r"MDP\.from_dict"),
        (bm.MDP, {"transitions": [[[1]]], "reward": [[1]]}, "did you mean 'rewards'"),
        (bm.MDP, {1: 2}, "unknown key '1'"),
    ],
)
def test_what_is_wrong_with_a_dict(kind, document, message):
    """The key, and what it could mean."""
    with pytest.raises(InvalidChain, match=message):
        kind.from_dict(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"transition": [[1]]}', "did you mean 'transitions'"),
        ('{"transitions": [[1]], "rewards": [1]}', "did you mean 'reward'"),
        ('{"transitions": [[[1]]], "rewards": [[1]], "action": ["a"]}', "did you mean 'actions'"),
        ('{"transitions": [[1]], "lables": ["a"]}', "did you mean 'labels'"),
        ('{"reward": [1]}', "has no transitions"),
        ('{"something": 1}', "has no transitions"),
    ],
)
def test_wrong_keys_in_files(text, message, tmp_path):
    """The same in JSON that people write, in a file and in an open one."""
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(FileFormatError, match=rf"model\.json.*{message}"):
        bm.as_chain(tmp_path / "model.json")
    with pytest.raises(FileFormatError, match=message):
        bm.load(io.StringIO(text))


def test_what_is_wrong_with_the_dict_of_a_solution():
    """Its bounds are proved again."""
    document = solutions()["n ≠ m"].to_dict()
    with pytest.raises(FileFormatError, match="did you mean 'value'"):
        bm.Solution.from_dict({**{k: v for k, v in document.items() if k != "value"}, "values": document["value"]})
    tight = [[upper / 2 for upper in row] for row in document["upper"]]
    with pytest.raises(FileFormatError, match="not supported"):
        bm.Solution.from_dict(document | {"value": tight, "lower": tight, "upper": tight})
    with pytest.raises(InvalidOption, match="document is a list"):
        bm.Solution.from_dict([])


def test_a_dict_that_contains_itself():
    """An error instead of a crash."""
    document = {"transitions": [[1.0]]}
    document["reward"] = document
    with pytest.raises(InvalidChain, match="nested too deeply"):
        bm.MarkovChain.from_dict(document)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just(np.eye(2))
NODES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
KEYS = st.sampled_from(["transitions", "reward", "rewards", "start", "names", "labels", "actions", "format", "version"])


@given(st.dictionaries(KEYS | st.text(max_size=2), NODES | st.just([[0.5, 0.5], [0, 1]])))
def test_any_dict(document):
    """A model, or an error of ours."""
    for make in (bm.as_chain, bm.as_mdp, bm.MarkovChain.from_dict, bm.MDP.from_dict, bm.Solution.from_dict):
        with suppress(BisimetricError):
            make(document)
