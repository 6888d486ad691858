"""`bisimetric distance` over a finite horizon and in the long run."""

import pytest

from tests.cli.test_distance import KEYS


def test_a_finite_horizon(command):
    """--horizon: the sum over some steps, without a discount unless one is given."""
    rooms = ("distance", "four-rooms:p1", "four-rooms:p0", "--horizon", 12)
    ran = command(*rooms, "--json")
    assert set(ran.document) == KEYS | {"horizon"}
    assert (ran.document["kind"], ran.document["horizon"], ran.document["discount"]) == ("horizon", 12, 1.0)
    assert ran.document["lower"] <= 0.12575936317444 <= ran.document["upper"]
    text = command(*rooms, "--discount", 0.9).out
    assert "sum of the costs of 12 steps; γ = 0.9" in text
    assert max(map(len, text.splitlines())) <= 80
    for wrong in (("--bisimilarity",), ("--normalised",), ("--pairs", "reachable")):
        ran = command(*rooms, *wrong)
        assert ran.code == 2
        assert "--horizon and" in ran.err
    assert "≥ 1" in command(*rooms[:-1], 0).err
    assert "backward-induction" in command(*rooms, "--solver", "policy-iteration").err


@pytest.mark.parametrize("option", [("--max-steps", 2), ("--set", "keep_steps=false")])
def test_a_finite_horizon_whose_steps_are_not_there(command, option):
    """The distance is told without the pairs that it comes from, which need the values of all times."""
    ran = command("distance", "four-rooms:p1", "four-rooms:p0", "--horizon", 12, *option, "--json")
    assert ran.code == 0
    assert ran.document["lower"] <= 0.12575936317444 <= ran.document["upper"]
    assert ran.document["explain"] is None
    assert "no explanation: the values of time" in ran.err


def test_the_long_run(command, chain_file):
    """--average: one number with its interval, also without starts."""
    rooms = ("distance", "four-rooms:p1", "four-rooms:p0", "--average")
    document = command(*rooms, "--json").document
    assert set(document) == KEYS | {"stationary_distance", "stationary_interval"}
    assert (document["kind"], document["discount"]) == ("average", None)
    assert document["lower"] <= 0.0398735645 + 5e-11
    assert document["stationary_distance"] == document["distance"] == pytest.approx(0.0398735645, abs=1e-10)
    text = command(*rooms).out
    assert "average cost per step in the long run" in text
    assert max(map(len, text.splitlines())) <= 80
    ran = command("distance", "open-grid:3", "open-grid:3", "--average")
    assert ran.code == 0
    for wrong in (
        ("--discount", 0.9),
        ("--horizon", 3),
        ("--bisimilarity",),
        ("--normalised",),
    ):
        ran = command(*rooms, *wrong)
        assert ran.code == 2
        assert "--average and" in ran.err
    one = chain_file(transitions=[[0, 1], [1, 0]])
    ran = command("distance", one, one, "--average")
    assert "none; from the best pair of states" in ran.out


def test_the_long_run_without_starts(command, chain_file):
    """There is one distance, so a limit and a matching by the time spent need no starts."""
    one = chain_file(transitions=[[0, 1], [1, 0]])
    ran = command("distance", one, one, "--average", "--fail-above", 0.1, "--match", "coupling")
    assert ran.code == 0
    assert "within the limit 0.1" in ran.out
    assert "matched one-to-one, by the time" in ran.out
