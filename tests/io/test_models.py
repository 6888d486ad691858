"""Chains in files: exact round trips, and chains written by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import bisimetric as bm
from bisimetric import errors
from tests import strategies
from tests.io.io_samples import SUFFIXES, as_bytes, assert_same_chain, chains, edited, refusal

ROWS = [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", chains())
def test_a_chain_comes_back_as_it_was(name, suffix, tmp_path):
    """Rows, rewards, start, names, labels and row errors agree to the last bit."""
    path = tmp_path / f"chain.{suffix}"
    chains()[name].save(str(path))
    loaded = bm.load(path)
    assert isinstance(loaded, bm.MarkovChain)
    assert_same_chain(chains()[name], loaded)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_chain_comes_back_as_it_was(suffix, tmp_path):
    """The same for generated chains."""

    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.chains(max_states=4, reward=True, start=True))
    def check(chain):
        bm.save(chain, tmp_path / f"chain.{suffix}")
        assert_same_chain(chain, bm.load(tmp_path / f"chain.{suffix}"))

    check()


def test_row_errors_are_not_forgotten(tmp_path):
    """The rows in a file are exact; what rounding did before is still paid for by certificates."""
    chain = chains()["inexact rows"]
    assert chain.row_error.max() > 0
    bm.save(chain, tmp_path / "a.npz")
    loaded = bm.load(tmp_path / "a.npz")
    assert bm.MarkovChain(loaded.transitions).row_error.max() == 0
    assert loaded.row_error.max() == chain.row_error.max()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_chain_makes_the_same_file(suffix, tmp_path):
    """Files do not depend on the time, nor on having been in a file before."""
    data = as_bytes(chains()["all parts"], suffix, tmp_path)
    assert as_bytes(bm.load(tmp_path / f"sample.{suffix}"), suffix, tmp_path) == data


def test_numpy_opens_an_npz(tmp_path):
    """Anybody can read the arrays without this package and without pickles."""
    chain = chains()["all parts"]
    bm.save(chain, tmp_path / "chain.npz")
    with np.load(tmp_path / "chain.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["reward"], chain.reward)
        assert np.array_equal(arrays["transitions.data"], chain.transitions.data)
        assert json.loads(arrays["meta.json"])["format"] == "bisimetric chain"


def test_json_is_what_the_docstring_says(tmp_path):
    """The format that other programs may rely on."""
    chain = bm.MarkovChain(ROWS, reward=[0, 1], start=0, names=["ä", "b"], labels=["x", 2])
    bm.save(chain, tmp_path / "chain.json")
    assert json.loads((tmp_path / "chain.json").read_bytes()) == {
        "format": "bisimetric chain",
        "version": 1,
        "transitions": {"shape": [2, 2], "indptr": [0, 2, 4], "indices": [0, 1, 0, 1], "data": [0.5, 0.5, 0.25, 0.75]},
        "reward": [0.0, 1.0],
        "start": [1.0, 0.0],
        "names": ["ä", "b"],
        "labels": ["x", 2],
        "row_error": [0.0, 0.0],
    }


@pytest.mark.parametrize("start", [1, "b", "1", [0, 1]])
@pytest.mark.parametrize(
    "transitions", [ROWS, {"shape": [2, 2], "indptr": [0, 1, 3], "indices": [1, 1, 0], "data": [1, 0.5, 0.5]}]
)
def test_chains_written_by_hand(transitions, start, tmp_path):
    """Dense or sparse rows, a start in any form, no format and no version, with or without a byte order mark."""
    node = {"transitions": transitions, "start": start, "names": ["a", "b"], "reward": None}
    (tmp_path / "hand.json").write_bytes(json.dumps(node).encode("utf-8-sig"))
    chain = bm.as_chain(str(tmp_path / "hand.json"))
    assert chain.start.tolist() == [0, 1]
    assert chain.transitions[1, 0] in (0.25, 0.5)
    assert chain.reward is None
    assert not chain.row_error.any()


def test_row_errors_add_up(tmp_path):
    """Rows by hand that are not exact have the file's error and that of making them exact."""
    made = bm.MarkovChain(np.full((3, 3), 1 / 3)).row_error
    node = {"transitions": np.full((3, 3), 1 / 3).tolist(), "row_error": [0.5, 0.0, 2.0]}
    (tmp_path / "hand.json").write_text(json.dumps(node))
    assert bm.load(tmp_path / "hand.json").row_error.tolist() == (made + node["row_error"]).tolist()


WRONG = {
    "a typo": ({"rewards": [1, 2]}, "did you mean 'reward'"),
    "another typo": ({"transition": ROWS}, "did you mean 'transitions'"),
    "no such key": ({"zzz": 1}, "known are transitions, reward"),
    "no transitions": ({"transitions": None}, "transitions is missing"),
    "transitions as text": ({"transitions": "I"}, "is text"),
    "transitions as a number": ({"transitions": 1}, "is a whole number"),
    "no rows": ({"transitions": []}, "transitions is empty"),
    "rows of text": ({"transitions": ["ab", "cd"]}, "transitions[0] is text"),
    "text in a row": ({"transitions": [[0.5, "0.5"], [0, 1]]}, "transitions[0][1] is text"),
    "ragged rows": ({"transitions": [[1.0], [0, 1]]}, "transitions[1] has 2 entries"),
    "not square": ({"transitions": [[0.5, 0.5]]}, "square"),
    "not stochastic": ({"transitions": [[0.5, 0.4], [0, 1]]}, "row 0 of transitions sums to 0.9"),
    "negative": ({"transitions": [[1.5, -0.5], [0, 1]]}, "expected a probability"),
    "infinite": ({"transitions": [[10**400, 0], [0, 1]]}, "too large"),
    "boolean rows": ({"transitions": [[True, False], [False, True]]}, "is true or false, expected numbers"),
    "short reward": ({"reward": [1]}, "reward has shape [1], expected [2]"),
    "nested reward": ({"reward": [[1, 2]]}, "reward[0] is a list"),
    "reward as an object": ({"reward": {"0": 1}}, "reward is an object"),
    "start unknown": ({"start": "c"}, "state 'c' is unknown"),
    "start outside": ({"start": 2}, "out of range"),
    "start of many digits": ({"start": "1" * 5000}, "is unknown"),
    "start a fraction": ({"start": 0.5}, "start is a number"),
    "start a boolean": ({"start": True}, "start is true or false"),
    "start an object": ({"start": {}}, "start is an object"),
    "start too short": ({"start": [1]}, "expected [2]"),
    "start not a law": ({"start": [0.5, 0.4]}, "start sums to 0.9"),
    "names as text": ({"names": "ab"}, "names is text, expected a list"),
    "a name twice": ({"names": ["a", "a"]}, "occurs twice"),
    "a number as name": ({"names": ["a", 1]}, "expected a string"),
    "labels as text": ({"labels": "ab"}, "labels is text"),
    "few labels": ({"labels": ["a"]}, "one per state"),
    "null label": ({"labels": ["a", None]}, "labels[1] holds null"),
    "deep label": ({"labels": ["a", [["b"]]]}, "labels[1] holds a list"),
    "object as label": ({"labels": ["a", {"float": "nan"}]}, "labels[1] holds an object"),
    "negative row error": ({"row_error": [0, -1]}, "row_error[1] is -1.0, expected at least 0"),
    "large row error": ({"row_error": [0, 3]}, "at most 2"),
    "merged as numbers": ({"merged": [0, 1]}, "merged"),
    "few merged": ({"merged": [True]}, "merged"),
    "newer version": ({"version": 2}, "install a newer one"),
    "version zero": ({"version": 0}, "version is 0, expected 1"),
    "version as text": ({"version": "1"}, "version is '1', expected 1"),
    "version as boolean": ({"version": True}, "version is True, expected 1"),
    "unknown format": ({"format": "bisimetric graph"}, "expected one of 'bisimetric chain', 'bisimetric mdp'"),
    "format of a wrong kind": ({"format": ["bisimetric chain"]}, "format is ['bisimetric chain']"),
    "format without version": ({"format": "bisimetric chain"}, "version is None"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_chain_by_hand_is_said(case, tmp_path):
    """One line that names the place and what was expected."""
    changes, said = WRONG[case]
    (tmp_path / "hand.json").write_text(json.dumps({"transitions": ROWS, "names": ["a", "b"]} | changes))
    assert said in refusal(tmp_path / "hand.json")


SPARSE = {"shape": [2, 2], "indptr": [0, 1, 2], "indices": [0, 1], "data": [1, 1]}
WRONG_SPARSE = {
    "not square": ({"shape": [2, 3]}, "expected [n, n]"),
    "negative": ({"shape": [-1, -1]}, "expected [n, n]"),
    "terabytes": ({"shape": [10**15, 10**15]}, "indptr has shape [3], expected [1000000000000001]"),
    "more than 64 bits": ({"shape": [10**30, 10**30]}, "too large"),
    "one number": ({"shape": [2]}, "expected [2]"),
    "fractions": ({"indptr": [0, 1.0, 2]}, "indptr[1] is a number, expected whole numbers"),
    "does not begin at 0": ({"indptr": [1, 1, 2]}, "expected to ascend from 0 to 2"),
    "does not end": ({"indptr": [0, 1, 3]}, "expected to ascend from 0 to 2"),
    "goes back": ({"indptr": [0, 3, 2]}, "expected to ascend from 0 to 2"),
    "state outside": ({"indices": [0, 2]}, "expected states from 0 to 1"),
    "negative state": ({"indices": [-1, 1]}, "expected states from 0 to 1"),
    "few data": ({"data": [1]}, "indices has shape [2], expected [1]"),
    "empty row": ({"indptr": [0, 0, 2]}, "row 0 of transitions sums to 0"),
    "missing part": ({"data": None}, "transitions.data is missing"),
    "typo": ({"index": []}, "did you mean 'indices'"),
}


@pytest.mark.parametrize("case", WRONG_SPARSE)
def test_what_is_wrong_with_a_sparse_matrix_is_said(case, tmp_path):
    """The same for rows in sparse form."""
    changes, said = WRONG_SPARSE[case]
    (tmp_path / "hand.json").write_text(json.dumps({"transitions": SPARSE | changes}))
    assert said in refusal(tmp_path / "hand.json")


def test_version_and_format_guard_the_npz_too(tmp_path):
    """The rule is one rule for both containers; here by what JSON says after an edit."""
    data = as_bytes(chains()["all parts"], "json", tmp_path)
    (tmp_path / "new.json").write_bytes(edited(data, lambda d: d.update(version=7)))
    assert "version 7" in refusal(tmp_path / "new.json")
    (tmp_path / "new.json").write_bytes(edited(data, lambda d: d.pop("format")))
    assert_same_chain(chains()["all parts"], bm.load(tmp_path / "new.json"))


@pytest.mark.parametrize("path", ["chain.txt", "chain", "chain.npz.gz", ".npz", ""])
def test_other_suffixes_are_refused_with_the_two_that_are_known(path, tmp_path, monkeypatch):
    """By `save` and `load` alike; nothing is written."""
    monkeypatch.chdir(tmp_path)
    for attempt in (lambda: bm.save(chains()["bare"], path), lambda: bm.load(path)):
        with pytest.raises(errors.InvalidOption, match=r"\.npz or \.json"):
            attempt()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [3, None, b"a.npz", "a\0.npz", "\ud800.npz"])
def test_what_is_not_a_path_is_refused(path):
    """A number is not taken for a file descriptor, and no odd text becomes an odd error."""
    for attempt in (lambda: bm.save(chains()["bare"], path), lambda: bm.load(path)):
        with pytest.raises(errors.InvalidOption, match="path is"):
            attempt()


def test_suffixes_in_capitals_work(tmp_path):
    """As written by some systems."""
    bm.save(chains()["bare"], tmp_path / "A.JSON")
    assert_same_chain(chains()["bare"], bm.load(tmp_path / "A.JSON"))


def test_only_models_and_solutions_are_saved(tmp_path):
    """Anything else is refused before a file appears."""
    with pytest.raises(errors.InvalidOption, match="cannot save a list"):
        bm.save([[1.0]], tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_json_cannot_hold_is_refused(tmp_path):
    """Whole numbers of thousands of digits are not read back, so they are not written."""
    chain = bm.MarkovChain([[1.0]], labels=[10**5000])
    for suffix in SUFFIXES:
        with pytest.raises(errors.FileFormatError, match="cannot be written"):
            bm.save(chain, tmp_path / f"a.{suffix}")
    assert list(tmp_path.iterdir()) == []
