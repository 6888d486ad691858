"""Decision processes in files: exact round trips, and processes by hand."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings

import bisimetric as bm
from tests import strategies
from tests.io.io_samples import (
    SUFFIXES,
    as_bytes,
    assert_same_mdp,
    mdps,
    refusal,
)

STAY, GO = [[1, 0], [0, 1]], [[0, 1], [0.5, 0.5]]
BY_HAND = {"transitions": [STAY, GO], "rewards": [[0, 1], [0.5, 0]]}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", mdps())
def test_a_process_comes_back_as_it_was(name, suffix, tmp_path):
    """Rows, rewards, available actions, start, names and row errors agree to the last bit, by every way of reading."""
    path = tmp_path / f"mdp.{suffix}"
    mdps()[name].save(str(path))
    for loaded in (bm.load(path), bm.as_mdp(path)):
        assert_same_mdp(mdps()[name], loaded)
    assert as_bytes(loaded, suffix, tmp_path) == path.read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_process_comes_back_as_it_was(suffix, tmp_path):
    """The same for generated processes."""

    @settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.mdps(n_actions=3, partial=True, start=True))
    def check(mdp):
        bm.save(mdp, tmp_path / f"mdp.{suffix}")
        assert_same_mdp(mdp, bm.load(tmp_path / f"mdp.{suffix}"))

    check()


def test_a_process_by_hand(tmp_path):
    """Lists of rows, or sparse matrices, one per action; no format and no version."""
    path = tmp_path / "hand.json"
    path.write_text(json.dumps(BY_HAND | {"actions": ["stay", "go"], "start": 1}))
    expected = bm.MDP([STAY, GO], BY_HAND["rewards"], actions=["stay", "go"], start=1)
    assert bm.as_mdp(path) == expected
    sparse = {"shape": [2, 2], "indptr": [0, 1, 3], "indices": [1, 0, 1], "data": [1, 0.5, 0.5]}
    path.write_text(json.dumps(BY_HAND | {"transitions": [STAY, sparse]}))
    assert bm.load(path) == bm.MDP([STAY, GO], BY_HAND["rewards"])
    missing = {"available": [[True, False], [True, True]], "transitions": [STAY, [[9, 9], [0.5, 0.5]]]}
    path.write_text(json.dumps(BY_HAND | missing))
    assert bm.load(path).available.tolist() == missing["available"]


WRONG = {
    "no actions": ({"transitions": []}, "transitions is empty, expected one matrix per action"),
    "a number": ({"transitions": 3}, "transitions is a whole number, expected an object"),
    "a row too long": ({"transitions": [STAY, [[0, 1], [0.5, 0.5, 0]]]}, "transitions.1[1] has 3 entries"),
    "a text": ({"transitions": [STAY, [[0, "1"], [0.5, 0.5]]]}, "transitions.1[0][1] is text"),
    "another size": ({"transitions": [STAY, [[1]]]}, "transitions[1] has shape (1, 1), expected (2, 2)"),
    "a sum": ({"transitions": [STAY, [[0, 1], [0.5, 0.4]]]}, "row 1 of transitions[1] sums to 0.9"),
    "rewards": ({"rewards": [[0], [1]]}, "rewards has shape [2, 1], expected [2, 2]"),
    "available": ({"available": [[True, True]]}, "available has shape [1, 2], expected [2, 2]"),
    "none available": ({"available": [[False, False], [True, True]]}, "no action is available in state 0"),
    "actions": ({"actions": ["a", "a"]}, "the name 'a' occurs twice"),
    "names": ({"names": "ab"}, "names is text, expected a list"),
    "start": ({"start": 5}, "state 5 is out of range"),
    "row errors": ({"row_error": [[3, 0], [0, 0]]}, "row_error is up to 3, expected at most 2"),
    "a chain's key": ({"reward": [0, 1]}, "did you mean 'rewards'"),
    "labels": ({"labels": ["a"]}, "labels has 1 entries"),
    "a typo": ({"acitons": ["a", "b"]}, "did you mean 'actions'"),
    "no rewards": ({"rewards": None, "format": "bisimetric mdp", "version": 1}, "rewards is missing"),
    "a version": ({"format": "bisimetric mdp", "version": 2}, "has version 2 of its format"),
    "a chain's format": ({"format": "bisimetric chain", "version": 1}, "unknown key 'rewards'"),
    "a flat shape": (
        {"transitions": {"shape": [2, 2], "indptr": [0], "indices": [], "data": []}},
        "transitions.shape has shape [2], expected [3]",
    ),
    "not square": (
        {"transitions": {"shape": [2, 2, 3], "indptr": [0], "indices": [], "data": []}},
        "transitions.shape is [2, 2, 3], expected [A, n, n]",
    ),
    "huge": (
        {"transitions": {"shape": [2**40, 2**40, 2**40], "indptr": [0], "indices": [], "data": []}},
        "transitions.indptr has shape [1]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_process_is_said(case, tmp_path):
    """One line that names the place and what was expected."""
    changes, said = WRONG[case]
    (tmp_path / "hand.json").write_text(json.dumps(BY_HAND | changes))
    assert said in refusal(tmp_path / "hand.json")
