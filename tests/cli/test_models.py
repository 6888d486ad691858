"""Models of the command line: texts, options for all of them, and stdin."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

import bisimetric as bm
from bisimetric.cli.models import Reading, model_to_stdout, suffix_of, transition_count, write_model
from bisimetric.errors import InvalidChain, InvalidOption

PLAIN = Reading(const=None, normalise_rows=False)


def test_names_files_and_counts(tmp_path):
    """A chain and a decision process, and how many transitions they have."""
    mdp = bm.environments.four_rooms_mdp(side=3)
    write_model(mdp, str(tmp_path / "mdp.json"))
    chain, process = PLAIN.models(["grid-3x3", str(tmp_path / "mdp.json")])
    assert chain == bm.environments.grid_3x3()
    assert process == mdp
    assert transition_count(chain) == chain.transitions.nnz
    assert transition_count(process) == sum(matrix.nnz for matrix in mdp.transitions)


def test_stdin_is_read_once(monkeypatch, capsys):
    """As a model in JSON; a second time it would be empty."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    model_to_stdout(chain, ".json")
    written = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(written.encode())))
    assert PLAIN.chains(["-"]) == [chain]
    with pytest.raises(InvalidOption, match="given twice"):
        PLAIN.chains(["-", "-"])


def test_rows_are_rescaled_on_request(tmp_path):
    """For matrix files only; without one the option is a mistake."""
    (tmp_path / "counts.csv").write_text("3,1\n0,2\n")
    asked = Reading(const=None, normalise_rows=True)
    (chain,) = asked.chains([str(tmp_path / "counts.csv")])
    assert chain.transitions.toarray().tolist() == [[0.75, 0.25], [0.0, 1.0]]
    with pytest.raises(InvalidChain, match=r"divide each row by its sum|normalise"):
        PLAIN.chains([str(tmp_path / "counts.csv")])
    with pytest.raises(InvalidOption, match="--normalise-rows is for files"):
        asked.chains(["grid-3x3"])


@pytest.mark.parametrize("const", [["N"], ["N=1,N=2"], ["=1"]])
def test_constants_that_are_none(const, tmp_path):
    """Are refused with an example, before any file is read."""
    (tmp_path / "m.prism").write_text("dtmc")
    with pytest.raises(InvalidOption, match="--const"):
        Reading(const=const, normalise_rows=False).chains([str(tmp_path / "m.prism")])


@pytest.mark.parametrize(
    ("first", "suffix"),
    [
        (b"PK\x03\x04...", ".npz"),
        (b"\x93NUMPY", ".npy"),
        (b"// a comment\n@type: DTMC\n", ".drn"),
        (b"// a model\ndtmc\n\nmodule die\n", ".prism"),
        (b'{"jani-version": 1}', ".jani"),
        (b'\xef\xbb\xbf {"transitions": []}', ".json"),
        (b"", ".json"),
        (b"nonsense \xff", ".json"),
    ],
)
def test_stdin_is_recognised_by_its_beginning(first, suffix):
    """Where nothing speaks for another format it is JSON."""
    assert suffix_of(first) == suffix


@pytest.mark.parametrize("ending", ["json", "npz", "drn"])
def test_models_in_a_pipe(ending, tmp_path, command, monkeypatch):
    """Without saying what they are."""
    file = tmp_path / f"rooms.{ending}"
    bm.environments.four_rooms("p1").save(file)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    ran = command("distance", "-", "four-rooms:p1", "--discount", "0.9", "--cost", "reward", "--quiet")
    assert (ran.code, ran.out.strip()) == (0, "0")


def test_what_is_not_recognised_in_a_pipe(command, monkeypatch):
    """The error says how it is read."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n")))
    ran = command("states", "-")
    assert ran.code == 2
    assert "--from" in ran.err


def test_decision_processes_under_a_policy(command, tmp_path):
    """A file is walked like gym:ID; without a policy the error names the option."""
    file = tmp_path / "lake.json"
    bm.from_gymnasium("FrozenLake-v1").save(file)
    words = ("distance", file, "gym:FrozenLake-v1", "--discount", "0.9", "--quiet")
    assert "--policy uniform" in command(*words).err
    assert command(*words, "--policy", "uniform").out.strip() == "0"
    best = float(command(*words, "--policy", "optimal").out)
    assert best == 0.0  # both sides are taken under it
    chain = bm.from_gymnasium("FrozenLake-v1", policy="optimal", discount=0.9)
    chain.save(tmp_path / "best.json")
    mixed = command("distance", file, tmp_path / "best.json", "--discount", "0.9", "--policy", "optimal", "--quiet")
    assert mixed.out.strip() == "0"
    wrong = command("distance", "four-rooms:p1", "four-rooms:p0", "--discount", "0.9", "--policy", "uniform")
    assert "--policy is for decision processes" in wrong.err
    undiscounted = command("distance", file, file, "--bisimilarity", "--policy", "optimal")
    assert "--discount" in undiscounted.err
    assert command("pairwise", file, file, "--discount", "0.9", "--policy", "uniform").code == 0
