"""`bisimetric states`, `quotient` and `aggregate`."""

import io
import json
import re

import pytest

import bisimetric as bm
from bisimetric.cli import bisimulation

ROOMS = "four-rooms:side=6,goal=all"
COMMON = {
    "model", "states", "transitions", "classes", "class_transitions", "class_names", "map", "seconds", "memory_bytes",
}  # fmt: skip
KEYS = {
    "states": COMMON | {"discount", "cost", "relative_gap", "status", "tol", "tol_reached", "closest", "farthest"},
    "quotient": COMMON | {"output"},
    "aggregate": COMMON | {"discount", "distance_bound", "value_bound", "policy_loss", "output"},
}
ARGUMENTS = {"states": (ROOMS,), "quotient": (ROOMS,), "aggregate": (ROOMS, "--epsilon", 0.01)}


@pytest.mark.parametrize("name", KEYS)
def test_text(name, process):
    """At most 80 columns, the number of classes, nothing on stderr."""
    ran = process(name, *ARGUMENTS[name])
    assert ran.code == 0
    assert re.search(r"^states +40, ", ran.out, re.MULTILINE)
    assert "Largest classes" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "\x1b" not in ran.out
    assert all(line.startswith("bisimetric: compiling kernels for ") for line in ran.err.splitlines())


@pytest.mark.parametrize("name", KEYS)
def test_json(name, command):
    """One object with the keys that the help lists."""
    ran = command(name, *ARGUMENTS[name], "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert set(document) == KEYS[name]
    assert document["states"] == len(document["map"]) == 40
    assert document["classes"] == len(document["class_names"]) == max(document["map"]) + 1
    text = command(name, "--help").out
    assert all(re.search(rf"\b{key}\b", text) for key in KEYS[name])
    assert "Examples:" in text
    assert max(map(len, text.splitlines())) <= 80


def test_states(command):
    """Classes as the library finds them, and pairs of them in order."""
    document = command("states", ROOMS, "--discount", 0.9, "--json").document
    chain = bm.as_chain(ROOMS)
    small, classes = bm.quotient(chain)
    assert document["map"] == classes.tolist()
    solution = bm.solve(bm.Problem(small, small, discount=0.9, normalised=True))
    farthest, closest = document["farthest"], document["closest"]
    assert farthest[0]["distance"] == pytest.approx(solution.value.max(), abs=1e-9)
    assert [pair["distance"] for pair in closest] == sorted(pair["distance"] for pair in closest)
    assert [pair["distance"] for pair in farthest] == sorted((pair["distance"] for pair in farthest), reverse=True)
    assert all(pair["lower"] <= pair["distance"] <= pair["upper"] for pair in closest)
    assert closest[0]["distance"] == 0.0  # a door and a cell that differ in their labels only
    text = command("states", ROOMS, "--discount", 0.9).out
    assert "Closest classes" in text
    assert "Farthest classes" in text
    assert f"{closest[0]['source']}  " in text


def test_states_with_labels_only(command, chain_file):
    """Labels are compared where there are no rewards."""
    path = chain_file(transitions=[[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], reward=None, labels=["a", "b", "b"])
    path.write_text(
        json.dumps({key: value for key, value in json.loads(path.read_text()).items() if value is not None})
    )
    document = command("states", path, "--json").document
    assert (document["cost"], document["classes"], document["map"]) == ("labels", 2, [0, 1, 1])
    assert len(document["closest"]) == len(document["farthest"]) == 1


def test_states_that_are_too_many(command, free_memory):
    """Classes are printed even if their distances do not fit into memory."""
    assert command("states", ROOMS, "--json").document["closest"]  # kernels are loaded
    free_memory(400_000)
    ran = command("states", "four-rooms:side=20", "--json")
    assert ran.code == 0
    assert ran.document["closest"] is ran.document["status"] is None
    assert "no distances: " in ran.err
    assert "available are 400 kB" in ran.err


def test_one_class(command, chain_file):
    """A chain of one class has no pairs to list."""
    ran = command("states", chain_file(transitions=[[1.0]], reward=[1]))
    assert ran.code == 0
    assert "no two states are in one class" in ran.out


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_quotient_is_written(command, tmp_path, suffix):
    """The file holds the library's quotient."""
    path = tmp_path / f"small.{suffix}"
    ran = command("quotient", ROOMS, "--out", path)
    assert ran.code == 0
    assert f"the chain is in {path}" in ran.err
    small, _ = bm.quotient(bm.as_chain(ROOMS))
    again = bm.load(path)
    assert (again.transitions.toarray() == small.transitions.toarray()).all()
    assert again.names == small.names


@pytest.mark.parametrize("name", ["quotient", "aggregate"])
def test_stdout(command, name):
    """`--out -` prints the small model as JSON and nothing else."""
    ran = command(name, *ARGUMENTS[name], "--out", "-")
    assert (ran.code, ran.err) == (0, "")
    assert bm.load(io.StringIO(ran.out)).n_states == command(name, *ARGUMENTS[name], "--json").document["classes"]
    ran = command(name, *ARGUMENTS[name], "--out", "-", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "both go to stdout" in ran.err


def test_aggregate_is_written(command, tmp_path):
    """The file holds the library's small chain, and the bounds are the library's."""
    path = tmp_path / "small.json"
    document = command(
        "aggregate", "four-rooms:p1", "--n-states", 9, "--discount", 0.9, "--out", path, "--json"
    ).document
    found = bm.aggregate(bm.as_chain("four-rooms:p1"), n_states=9, discount=0.9)
    assert document["distance_bound"] == found.distance_bound
    assert document["value_bound"] == found.value_bound
    assert document["output"] == str(path)
    assert (bm.load(path).transitions.toarray() == found.model.transitions.toarray()).all()


def test_printed_bounds_hold(command):
    """The printed bounds are not below the computed ones."""
    found = bm.aggregate(bm.as_chain("four-rooms:p1"), n_states=9, discount=0.95)
    text = command("aggregate", "four-rooms:p1", "--n-states", 9).out
    printed = [float(number) for number in re.findall(r"at most (\S+) ", text)]
    assert printed[0] >= found.distance_bound
    assert printed[1] >= found.value_bound
    assert printed[1] == pytest.approx(found.value_bound, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("states", "nowhere.json"), "nowhere.json"),
        (("states", ROOMS, "--discount", 1), "discount is 1"),
        (("quotient", ROOMS, "--out", "small.txt"), "--out is 'small.txt'"),
        (("quotient", ROOMS, "-o", "no/such/folder/small.json"), "does not exist"),
        (("aggregate", ROOMS), "--epsilon and --n-states"),
        (("aggregate", ROOMS, "--epsilon", 0.1, "--n-states", 2), "--epsilon and --n-states"),
        (("aggregate", ROOMS, "--epsilon", -0.1), "epsilon is -0.1"),
        (("aggregate", ROOMS, "--n-states", 41), "--n-states is 41"),
        (("aggregate", ROOMS, "--n-states", "many"), "aggregate --help"),
    ],
)
def test_bad_input(command, arguments, message):
    """One line on stderr, code 2, nothing on stdout."""
    ran = command(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_no_rewards_no_labels(command, chain_file):
    """The error names the remedy."""
    path = chain_file()
    path.write_text(json.dumps({"transitions": [[1.0, 0.0], [0.0, 1.0]]}))
    for name, remedy in (("states", '"labels"'), ("quotient", '"labels"'), ("aggregate", '"reward"')):
        ran = command(name, path, *(("--epsilon", 1) if name == "aggregate" else ()))
        assert ran.code == 2
        assert remedy in ran.err


def test_interrupted(command, monkeypatch):
    """Code 130, no traceback."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bisimulation, "quotient", interrupted)
    ran = command("quotient", ROOMS)
    assert (ran.code, ran.out) == (130, "")
    assert "interrupted" in ran.err


STAY, GO = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
TWINS = {"transitions": [STAY, GO], "rewards": [[0, 1], [1, 0]], "names": ["left", "right"], "actions": ["a", "b"]}


def mdp_file(tmp_path, **changes):
    """A decision process whose states do the same under different names of actions."""
    path = tmp_path / "mdp.json"
    path.write_text(json.dumps({**TWINS, "transitions": [STAY, STAY], **changes}))
    return path


@pytest.mark.parametrize("name", KEYS)
def test_decision_processes(command, tmp_path, name):
    """Every command takes them."""
    path = mdp_file(tmp_path, transitions=[STAY, GO])
    out = () if name == "states" else ("--out", tmp_path / "small.npz")
    limit = ("--n-states", 1) if name == "aggregate" else ()
    ran = command(name, path, *limit, *out, "--json")
    assert ran.code == 0
    assert set(ran.document) == KEYS[name]
    assert ran.document["transitions"] == 4
    if out:
        assert isinstance(bm.load(tmp_path / "small.npz"), bm.MDP)
        assert "the decision process is in" in ran.err
    assert "2 actions" in command(name, path, *limit).out
    assert command(name, path, *limit, "--quiet").out == f"{ran.document['classes']}\n"


def test_matched_actions(command, tmp_path):
    """States that do the same under other names of actions are one class."""
    path = mdp_file(tmp_path)
    assert command("quotient", path, "--json").document["classes"] == 2
    assert command("quotient", path, "--actions", "matched", "--json").document["classes"] == 1


def test_states_with_different_actions(command, tmp_path):
    """Classes are printed without distances, which --actions matched has."""
    path = mdp_file(tmp_path, available=[[True, False], [True, True]])
    ran = command("states", path, "--json")
    assert ran.code == 0
    assert ran.document["closest"] is None
    assert "no distances: " in ran.err
    assert "--actions matched compares them" in ran.err
    assert len(command("states", path, "--actions", "matched", "--json").document["closest"]) == 1
