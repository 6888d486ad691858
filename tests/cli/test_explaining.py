"""Where a distance comes from, as printed and as JSON."""

from __future__ import annotations

import json

import bisimetric as bm
from bisimetric.cli.explaining import explanation_document

ROOMS = ("distance", "four-rooms:p1", "four-rooms:p0", "--discount", "0.95")


def test_the_way_is_printed_in_80_columns(command):
    """Step by step, and how likely it is."""
    lines = command(*ROOMS).out.splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith("The most likely way to part"))
    path = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).explain().path
    assert lines[begin + 1].split() == ["step", "source", "target", "chance", "cost", "distance"]
    for line, row in zip(lines[begin + 2 :], path.rows(), strict=False):
        assert line.split() == list(row)
    assert f"{path.share:.1%}" in " ".join(lines[begin:])
    assert max(map(len, lines)) <= 80


def test_the_way_as_json(command):
    """All fields of the path; states by number and by name."""
    found = json.loads(command(*ROOMS, "--json").out)["explain_path"]
    path = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).explain().path
    assert found["parting"] == path.parting
    assert found["share"] == path.share
    assert [tuple(moment["states"]) for moment in found["moments"]] == [moment.states for moment in path.moments]
    assert set(found["moments"][0]) == {"states", "source", "target", "probability", "cost", "distance"}


def test_equal_actions_share_a_column(command):
    """Of decision processes with the same actions."""
    text = command("metric", "gym:FrozenLake-v1", "gym:FrozenLake-v1,is_slippery=false", "--discount", "0.9").out
    heads = [line.split() for line in text.splitlines() if line.startswith(("source", "step"))]
    assert [head[-5:] for head in heads] == [
        ["action", "occupancy", "cost", "amount", "share"],
        ["target", "action", "chance", "cost", "distance"],
    ]
    assert max(map(len, text.splitlines())) <= 80


def test_nothing_to_explain(command):
    """No table for a distance of zero; no keys are missing where nothing is known."""
    out = command("distance", "four-rooms:p1", "four-rooms:p1", "--discount", "0.9").out
    assert "way to part" not in out
    assert set(explanation_document(None).values()) == {None}
