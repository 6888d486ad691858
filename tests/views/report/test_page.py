"""The file is whole, small and the same every time."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.views.report import page as module
from tests.views.report.models import data_of, decision_process, protocols, random_solution

LARGEST = 6_000_000  # bytes of a report of 100 x 100 states


def test_same_question_same_bytes(tmp_path):
    """Times are not in the file."""
    files = [tmp_path / name for name in ("one.html", "two.html")]
    questions = (
        protocols,
        lambda: bm.pairwise(["grid-3x3", "open-grid:3", "matching-four-rooms"], discount=0.5),
        lambda: bm.aggregate("grid-3x3", n_states=3, discount=0.5),
    )
    for ask in questions:
        for file in files:
            ask().report(file)
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.slow
def test_a_hundred_by_a_hundred_dense_states(tmp_path):
    """The file stays below its limit; pairs that matter keep 95 % of the mass, all others something."""
    solution = random_solution(100, 100, 40, tol=None, max_steps=1)
    file = tmp_path / "dense.html"
    solution.report(file)
    assert file.stat().st_size < LARGEST
    found = data_of(file)
    pairs = found["pairs"]
    masses = np.array([sum(flat[1::2]) for flat in pairs["cells"]])
    assert masses.min() > 0.1
    listed = [number for number, *_ in found["explanation"]["parts"]]
    assert masses[listed].min() >= 0.949
    assert pairs["value"] == solution.value.ravel().tolist()


def test_larger_matrices_are_binned(tmp_path):
    """And stay below the same limit."""
    file = tmp_path / "large.html"
    random_solution(130, 300, 4).report(file)
    assert file.stat().st_size < LARGEST
    assert data_of(file)["matrix"]["binned"]


def test_decision_processes_have_reports(tmp_path):
    """The method is the same."""
    mdp = decision_process()
    bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.8).report(tmp_path / "mdp.html")
    assert data_of(tmp_path / "mdp.html")["actions"]


def test_existing_files_are_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    """A failure leaves the file as it was, and nothing beside it."""
    file = tmp_path / "report.html"
    file.write_text("before")

    def fail(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(module, "html", fail)
        with pytest.raises(RuntimeError):
            protocols().report(file)
    assert file.read_text() == "before"
    protocols().report(file)
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("path", ["report", "report.pdf", "report.html.gz", 3, None])
def test_other_endings_are_refused(path):
    """Before anything is computed."""
    with pytest.raises(InvalidOption, match="path"):
        protocols().report(path)


def test_places_that_cannot_be_written_to(tmp_path):
    """Named in the error."""
    with pytest.raises(FileFormatError, match="folder"):
        protocols().report(tmp_path / "nowhere" / "report.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(FileFormatError, match="not a file"):
        protocols().report(tmp_path / "folder.html")


@pytest.mark.parametrize("options", [{"names": "ab"}, {"names": ("a",)}, {"names": (1, 2)}, {"command": 3}])
def test_names_and_command_are_texts(tmp_path, options):
    """Anything else is refused."""
    with pytest.raises(InvalidOption, match="expected"):
        protocols().report(tmp_path / "x.html", **options)
