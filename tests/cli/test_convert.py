"""`bisimetric convert`: models from one format to another, through files and streams."""

import io
import json
import sys

import pytest

import bisimetric as bm
from bisimetric.cli import main

KEYS = {
    "model", "kind", "states", "actions", "transitions", "rewards", "labels", "starts", "output", "seconds",
    "memory_bytes",
}  # fmt: skip
MDP = bm.MDP([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], [[0, 0], [1, 0]], start=0, actions=["stay", "go"])


@pytest.fixture
def stdin(monkeypatch):
    """Set what the command reads from stdin."""

    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_files(command, tmp_path, suffix):
    """The same model comes out."""
    out = tmp_path / f"rooms.{suffix}"
    ran = command("convert", "four-rooms:p1", out)
    assert ran.code == 0
    assert ran.err == f"bisimetric: the chain is in {out}\n"
    assert bm.load(out) == bm.as_chain("four-rooms:p1")
    document = command("convert", "four-rooms:p1", out, "--json").document
    assert set(document) == KEYS
    assert (document["kind"], document["states"], document["actions"]) == ("chain", 40, None)
    assert command("convert", "four-rooms:p1", out, "--quiet") == (0, "", "")


def test_policies(command, tmp_path):
    """A decision process becomes a chain under a policy."""
    MDP.save(tmp_path / "mdp.json")
    out = tmp_path / "chain.json"
    assert command("convert", tmp_path / "mdp.json", out).code == 0
    assert bm.load(out) == MDP
    assert command("convert", tmp_path / "mdp.json", out, "--policy", "uniform").code == 0
    assert bm.load(out) == MDP.under("uniform")
    assert command("convert", tmp_path / "mdp.json", out, "--policy", "optimal", "--discount", 0.9).code == 0
    assert bm.load(out) == MDP.under(MDP.optimal_policy(0.9).policy)


@pytest.mark.parametrize("form", ["json", "npz"])
def test_streams(tmp_path, stdin, capfdbinary, form):
    """From stdout of one command to stdin of another."""
    assert main(["convert", "four-rooms:p1", "-", "--to", form]) == 0
    written, said = capfdbinary.readouterr()
    assert said == b""
    stdin(written)
    assert main(["convert", "-", str(tmp_path / "again.json"), "--from", form]) == 0
    assert bm.load(tmp_path / "again.json") == bm.as_chain("four-rooms:p1")


def test_stdin_in_other_commands(command, stdin):
    """`-` is a model wherever a model is expected, as JSON."""
    stdin(json.dumps({"transitions": [[0.5, 0.5], [0, 1]], "reward": [0, 1], "start": 1}).encode())
    ran = command("distance", "-", "grid-3x3", "--discount", 0.5, "--json")
    assert ran.document["states"] == [2, 9]
    ran = command("distance", "-", "-", "--discount", 0.5)
    assert (ran.code, ran.out) == (2, "")
    assert "stdin (-) is given twice" in ran.err


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\xff\xfe", b'{"transition": [[1]]}', b'{"transitions": [[2]]}'])
def test_wrong_stdin(command, stdin, data):
    """The error calls it stdin."""
    stdin(data)
    ran = command("quotient", "-")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("bisimetric: error: stdin: ")
    assert ran.err.count("\n") == 1


def test_matrices(command, tmp_path):
    """Rows are rescaled on request."""
    counts = tmp_path / "counts.csv"
    counts.write_text("a,b\n3,1\n0,2\n")
    out = tmp_path / "chain.json"
    ran = command("convert", counts, out)
    assert ran.code == 2
    assert "--normalise-rows" in ran.err
    assert not out.exists()
    assert command("convert", counts, out, "--normalise-rows").code == 0
    assert bm.load(out) == bm.MarkovChain([[0.75, 0.25], [0, 1]], names=["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("grid-3x3", "out.xyz"), "OUT is 'out.xyz'"),
        (("grid-3x3", "no/such/folder.json"), "does not exist"),
        (("grid-3x3", "-", "--to", "xml"), "--to is 'xml'"),
        (("grid-3x3", "-", "--json"), "--json and stdout"),
        (("grid-3x3", "x.json", "--to", "json"), "--to is given"),
        (("grid-3x3", "x.json", "--from", "json"), "--from is given"),
        (("grid-3x3", "x.json", "--policy", "uniform"), "grid-3x3 is a chain"),
        (("grid-3x3", "x.json", "--policy", "optimal"), "needs --discount"),
        (("grid-3x3", "x.json", "--discount", 0.9), "is for --policy optimal"),
        (("grid-3x3", "x.json", "--normalise-rows"), "--normalise-rows is for files"),
        (("grid-3x3", "x.json", "--const", "N=1"), "--const is for files"),
        (("x.prism", "x.json", "--const", "N"), "expected NAME=VALUE"),
        (("x.prism", "x.json", "--const", "N=1,N=2"), "gives N twice"),
    ],
)
def test_bad_input(command, tmp_path, monkeypatch, arguments, message):
    """One line, code 2, and no file."""
    monkeypatch.chdir(tmp_path)
    ran = command("convert", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
