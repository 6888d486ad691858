"""`bisimetric metric`: chains and decision processes."""

import json

import pytest

import bisimetric as bm
from tests.cli.test_distance import KEYS

STAY, GO = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0.5, 0, 0.5], [1, 0, 0]]
MODEL = {
    "transitions": [STAY, GO],
    "rewards": [[0, 0], [1, 0], [0, 2]],
    "actions": ["stay", "go"],
    "names": ["idle", "busy", "done"],
    "start": "idle",
}


@pytest.fixture
def mdp_file(tmp_path):
    """Write a decision process and return its path."""

    def write(name="mdp.json", **changes):
        path = tmp_path / name
        path.write_text(json.dumps(MODEL | changes))
        return path

    return write


OTHER = {"transitions": [STAY, [[0, 1, 0], [0.25, 0, 0.75], [1, 0, 0]]]}


@pytest.mark.parametrize("actions", ["same", "matched"])
def test_two_processes(command, mdp_file, actions):
    """The library's number, its interval, the decisive actions, in at most 80 columns."""
    files = mdp_file(), mdp_file("other.json", **OTHER)
    expected = bm.bisimulation_metric(*map(bm.load, files), discount=0.9, actions=actions)
    document = command("metric", *files, "--discount", 0.9, "--actions", actions, "--json").document
    assert set(document) == KEYS | {"actions"}
    assert document["distance"] == expected.distance
    assert (document["lower"], document["upper"]) == expected.interval
    assert (document["kind"], document["actions"], document["normalised"]) == ("metric", actions, True)
    assert set(document["explain"][0]["actions"]) <= {"stay", "go"}
    text = command("metric", *files, "--discount", 0.9, "--actions", actions).out
    assert "action" in text
    assert max(map(len, text.splitlines())) <= 80
    quiet = command("metric", *files, "--discount", 0.9, "--actions", actions, "--quiet")
    assert float(quiet.out) == pytest.approx(expected.distance)
    assert quiet.err == ""


def test_one_model(command, mdp_file):
    """Different states, once each: smallest, largest, closest, farthest."""
    path = mdp_file()
    document = command("metric", path, "--discount", 0.9, "--json").document
    value = bm.bisimulation_metric(bm.load(path), discount=0.9).value
    assert document["distance"] is document["explain"] is None
    summary = document["summary"]
    assert summary["n_pairs"] == 3
    assert summary["largest"]["distance"] == value.max()
    assert [pair["distance"] for pair in summary["closest"]] == sorted([value[0, 1], value[0, 2], value[1, 2]])
    assert (summary["farthest"][0]["source"], summary["farthest"][0]["target"]) == ("idle", "done")
    assert "Closest pairs" in command("metric", path, "--discount", 0.9).out


def test_two_states_of_one_model(command, mdp_file):
    """--start S T compares them."""
    path = mdp_file()
    document = command("metric", path, "--discount", 0.9, "--start", "idle", 2, "--json").document
    assert document["distance"] == pytest.approx(bm.bisimulation_metric(bm.load(path), discount=0.9).value[0, 2])


def test_chains(command):
    """The normalised distance on rewards."""
    arguments = ("four-rooms:p1", "four-rooms:p0", "--discount", 0.95, "--json")
    metric = command("metric", *arguments).document
    assert metric["distance"] == command("distance", *arguments, "--normalised").document["distance"]
    assert metric["actions"] is None


def test_files(command, mdp_file, tmp_path):
    """The solution and the picture."""
    out, plot = tmp_path / "s.npz", tmp_path / "s.png"
    ran = command("metric", mdp_file(), "--discount", 0.9, "--out", out, "--plot", plot)
    assert ran.code == 0
    assert bm.load(out).value.shape == (3, 3)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_one_state(command, mdp_file):
    """A model of one state has no pairs."""
    ran = command("metric", mdp_file(transitions=[[[1]]], rewards=[[1]], actions=["a"], names=["x"], start=0),
                  "--discount", 0.9)  # fmt: skip
    assert ran.code == 0
    assert "distance      0" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fail-above", 1), "give OTHER, or --start"),
        (("--set", "rounds=3"), "option 'rounds' of game-iteration is unknown"),
        (("--solver", "policy-iteration"), "game-iteration"),
        (("--actions", "equal"), "--actions"),
        (("grid-3x3",), "two of a kind; `bisimetric convert IN OUT --policy uniform`"),
    ],
)
def test_bad_input(command, mdp_file, arguments, message):
    """One line, code 2."""
    ran = command("metric", mdp_file(), *arguments, "--discount", 0.9)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_a_process_is_no_chain(command, mdp_file):
    """`distance` says which command compares decision processes."""
    ran = command("distance", mdp_file(), "grid-3x3", "--discount", 0.9)
    assert ran.code == 2
    assert "`bisimetric metric` compares decision processes" in ran.err


def test_a_limit(command, mdp_file):
    """--fail-above judges the distance between the starts."""
    files = mdp_file(), mdp_file("other.json", **OTHER)
    assert command("metric", *files, "--discount", 0.9, "--fail-above", 0.1).code == 1
    assert command("metric", *files, "--discount", 0.9, "--fail-above", 1).code == 0


def test_chains_without_rewards(command, chain_file):
    """The error says which command compares labels."""
    file = chain_file()
    file.write_text('{"transitions": [[1]], "labels": ["a"]}')
    ran = command("metric", file, "--discount", 0.9)
    assert ran.code == 2
    assert "--bisimilarity" in ran.err
