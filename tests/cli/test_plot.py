"""`--plot` of `distance`, `metric` and `aggregate`: pictures, checked early and written whole."""

import sys

import matplotlib.image
import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import SolveInterrupted

ROOMS = ("distance", "four-rooms:p1", "four-rooms:p0", "--discount", 0.95)
SIGNATURES = {".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG"}


def test_png(command, tmp_path):
    """The answer as always, a picture of many colours, and where it is on stderr only."""
    file = tmp_path / "rooms.png"
    ran = command(*ROOMS, "--plot", file)
    assert ran.code == 0
    assert "0.43558176" in ran.out
    assert str(file) not in ran.out
    assert ran.err == f"bisimetric: the picture is in {file}\n"
    picture = matplotlib.image.imread(file)
    assert min(picture.shape[:2]) > 300
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 20


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_formats(command, tmp_path, chain_file, suffix):
    """Each suffix gives its format, for any chains; --out may stand beside it."""
    chain, file, saved = chain_file(names=["<b>", "$\\x"]), tmp_path / f"out{suffix}", tmp_path / "solution.npz"
    ran = command("distance", chain, chain, "--discount", 0.9, "--plot", file, "--out", saved, "--json")
    assert ran.code == 0
    assert ran.document["states"] == [2, 2]
    assert file.read_bytes().startswith(SIGNATURES[suffix])
    assert [str(path) in ran.err for path in (file, saved)] == [True, True]


def test_checked_before_the_work(command, tmp_path, monkeypatch):
    """Unknown suffixes, missing folders and missing matplotlib are reported in one line before anything is solved."""
    monkeypatch.setattr("bisimetric.cli.distance.solve", lambda *_, **__: pytest.fail("solved"))
    for name, words in (("x.jpg", ".png or .svg or .pdf"), ("nowhere/x.png", "does not exist"), ("x", ".png")):
        ran = command(*ROOMS, "--plot", tmp_path / name)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert ran.err.count("\n") == 1
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ran = command(*ROOMS, "--plot", tmp_path / "x.png")
    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'bisimetric[plot]'" in ran.err
    assert not list(tmp_path.iterdir())


def test_a_failure_comes_after_the_answer(command, tmp_path, monkeypatch):
    """If the files cannot be written in the end, the answer is printed all the same, and each failure told."""
    blocked = tmp_path / "out.png"
    blocked.symlink_to(tmp_path / "elsewhere.png")
    ran = command(*ROOMS, "--plot", blocked)
    assert ran.code == 2
    assert "0.43558176" in ran.out
    assert "symbolic link" in ran.err
    other = tmp_path / "out.npz"
    other.symlink_to(tmp_path / "elsewhere.npz")
    ran = command(*ROOMS, "--plot", blocked, "--out", other)
    assert ran.code == 2
    assert ran.err.count("symbolic link") == 2


def test_an_interrupted_solve_is_drawn(command, tmp_path, monkeypatch):
    """Ctrl-C leaves a picture of what was reached, beside the file of --out."""
    reached = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95, tol=0.1)

    def interrupted(*_, **__):
        raise SolveInterrupted("stopped", lambda: reached)

    monkeypatch.setattr("bisimetric.cli.distance.solve", interrupted)
    file = tmp_path / "reached.svg"
    ran = command(*ROOMS, "--plot", file)
    assert ran.code == 130
    assert f"a picture of what was reached is in {file}" in ran.err
    assert file.read_bytes().startswith(SIGNATURES[".svg"])


def test_in_the_help(command):
    """The help has the option and an example."""
    text = command("distance", "--help").out
    assert "--plot FILE" in text
    assert "--plot rooms.png" in text


def test_metric_of_one_model(command, tmp_path):
    """Its states at their distances, under the name that was given."""
    file = tmp_path / "states.svg"
    assert command("metric", "grid-3x3", "grid-3x3", "--discount", 0.9, "--plot", file).code == 0
    assert "distances between the states of grid-3x3" in file.read_text()


def test_aggregate(command, tmp_path):
    """Which states are merged; a wrong ending is refused before the work."""
    file = tmp_path / "merged.svg"
    arguments = ("aggregate", "four-rooms:p1", "--n-states", 9, "--discount", 0.9)
    ran = command(*arguments, "--plot", file)
    assert ran.code == 0
    assert f"the picture is in {file}" in ran.err
    assert "four-rooms:p1: 40 states merged into 9" in file.read_text()
    assert ".png or .svg or .pdf" in command(*arguments, "--plot", "x.jpg").err
