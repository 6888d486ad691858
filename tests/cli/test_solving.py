"""From a request to an answer: files first, then text, then the exit code."""

from __future__ import annotations

import json

import pytest

import bisimetric as bm

WORDS = ("four-rooms:p1", "four-rooms:p0", "--discount", "0.5")


def test_the_answer_and_its_file(command, tmp_path):
    """The saved solution is the printed one."""
    ran = command("distance", *WORDS, "--json", "--out", tmp_path / "a.npz")
    assert ran.code == 0
    assert bm.load(tmp_path / "a.npz").distance == ran.document["distance"]


@pytest.mark.parametrize(("limit", "code"), [("1000", 0), ("0", 1)])
def test_limits_decide_the_exit_code(command, limit, code):
    """Only what the interval proves."""
    assert command("distance", *WORDS, "--fail-above", limit).code == code


@pytest.mark.parametrize("limit", ["-1", "nan", "inf"])
def test_limits_that_are_none(command, limit):
    """Are refused before anything is solved."""
    ran = command("distance", *WORDS, "--fail-above", limit)
    assert ran.code == 2
    assert "--fail-above" in ran.err
    assert ran.out == ""


def test_a_missed_tolerance_has_its_code(command):
    """3, with the remedy on stderr; the interval is printed all the same."""
    ran = command("distance", *WORDS, "--tol", "1e-15", "--max-steps", "1", "--json")
    assert ran.code == 3
    assert "--max-steps" in ran.err
    assert json.loads(ran.out)["upper"] is not None


def test_a_limit_needs_starts(command, chain_file):
    """One distance to judge."""
    ran = command("distance", chain_file(), chain_file(), "--discount", "0.5", "--fail-above", "1")
    assert ran.code == 2
    assert "--start" in ran.err
