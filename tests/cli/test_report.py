"""`--report` of `distance`, `metric`, `pairwise` and `aggregate`: a page, checked early and written whole."""

import sys

import pytest

import bisimetric as bm
from bisimetric.errors import SolveInterrupted
from bisimetric.views.report.library import chart_library
from tests.views.report.models import data_of, decision_process

ROOMS = ("distance", "four-rooms:p1", "four-rooms:p0", "--discount", 0.95)


def test_a_page_beside_the_answer(command, tmp_path):
    """It knows the models' names and the command that made it."""
    file = tmp_path / "a page.html"
    ran = command(*ROOMS, "--report", file)
    assert ran.code == 0
    assert "0.43558176" in ran.out
    assert ran.err == f"bisimetric: the report is in {file}\n"
    found = data_of(file)
    assert found["title"] == "Distance between four-rooms:p1 and four-rooms:p0"
    assert found["reproduce"]["command"] == (
        f"bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95 --report '{file}'"
    )


def test_metrics_have_pages_too(command, tmp_path):
    """Of one decision process."""
    decision_process().save(tmp_path / "mdp.json")
    ran = command("metric", tmp_path / "mdp.json", "--discount", 0.9, "--report", tmp_path / "x.html", "--json")
    assert ran.code == 0
    assert data_of(tmp_path / "x.html")["actions"]


def test_tables_have_pages(command, tmp_path):
    """With the names of both lists and the command."""
    file = tmp_path / "x.html"
    ran = command("pairwise", "grid-3x3", "open-grid:3", "--discount", 0.9, "--report", file, "--json")
    assert ran.code == 0
    assert ran.err == f"bisimetric: the report is in {file}\n"
    assert data_of(file)["rows"] == ["grid-3x3", "open-grid:3"]
    assert data_of(file)["reproduce"]["command"].startswith("bisimetric pairwise grid-3x3 open-grid:3 --discount")
    two = ("pairwise", "grid-3x3", "--against", "open-grid:3", "--discount", 0.9, "--report", file)
    assert command(*two).code == 0
    assert data_of(file)["columns"] == ["open-grid:3"]
    bad = command("pairwise", "grid-3x3", "open-grid:3", "--discount", 0.9, "--report", tmp_path / "x.pdf")
    assert (bad.code, bad.out) == (2, "")


def test_aggregations_have_pages(command, tmp_path):
    """With the model's name and the command."""
    file = tmp_path / "x.html"
    ran = command("aggregate", "grid-3x3", "--n-states", 4, "--report", file)
    assert ran.code == 0
    assert ran.err == f"bisimetric: the report is in {file}\n"
    assert data_of(file)["title"] == "grid-3x3, made smaller"
    assert data_of(file)["reproduce"]["command"].startswith("bisimetric aggregate grid-3x3 --n-states 4")
    bad = command("aggregate", "grid-3x3", "--n-states", 4, "--report", tmp_path / "nowhere" / "x.html")
    assert (bad.code, bad.out) == (2, "")


def test_checked_before_the_work(command, tmp_path, monkeypatch):
    """Unknown suffixes, missing folders and missing libraries are reported in one line before anything is solved."""
    monkeypatch.setattr("bisimetric.cli.distance.solve", lambda *_, **__: pytest.fail("solved"))
    for name, words in (("x.pdf", ".html"), ("nowhere/x.html", "does not exist"), ("x", ".html")):
        ran = command(*ROOMS, "--report", tmp_path / name)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert ran.err.count("\n") == 1
    chart_library.cache_clear()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    ran = command(*ROOMS, "--report", tmp_path / "x.html")
    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'bisimetric[plot]'" in ran.err
    assert not list(tmp_path.iterdir())


def test_an_interrupted_solve_has_a_page(command, tmp_path, monkeypatch):
    """Ctrl-C leaves what was reached."""
    reached = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95, tol=0.1)

    def interrupted(*_, **__):
        raise SolveInterrupted("stopped", lambda: reached)

    monkeypatch.setattr("bisimetric.cli.distance.solve", interrupted)
    ran = command(*ROOMS, "--report", tmp_path / "reached.html")
    assert ran.code == 130
    assert data_of(tmp_path / "reached.html")["headline"]["value"] == reached.distance
