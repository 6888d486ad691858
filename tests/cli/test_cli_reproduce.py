"""`bisimetric reproduce`."""

from dataclasses import replace

import pytest

from bisimetric.cli import _reproduce
from bisimetric.experiments import ALL, instances


@pytest.fixture
def tiny(monkeypatch):
    """Two experiments that take no time."""
    few = replace(ALL["instances"], quick=instances.Config(wanted=(2, 2, 2, 2)))
    monkeypatch.setattr(_reproduce, "ALL", {"heat-map": ALL["heat-map"], "instances": few})


def test_files_and_table(command, tmp_path):
    """The record and the picture appear in the folder, which is made, and the table is at most 80 columns wide."""
    out = tmp_path / "new" / "folder"
    ran = command("reproduce", "heat-map", "--out", out)
    assert ran.code == 0
    assert "0.2401321979" in ran.out
    assert "quarter turns" in ran.out
    plain = ran.out.replace(str(out), "")
    assert max(map(len, plain.splitlines())) <= 80
    assert {file.name for file in out.iterdir()} == {"heat-map.json", "heat-map.png"}
    assert ran.err == ""


def test_all_as_json(command, tiny, tmp_path):
    """One object for each experiment, with its files and key numbers."""
    ran = command("reproduce", "all", "--quick", "--json", "--out", tmp_path)
    assert ran.code == 0
    first, second = ran.document
    assert (first["experiment"], second["experiment"]) == ("heat-map", "instances")
    assert (first["quick"], second["quick"]) == (False, True)
    assert first["summary"]["symmetric"] is True
    assert second["config"]["wanted"] == [2, 2, 2, 2]
    for found in ran.document:
        assert all((tmp_path / file).is_file() for file in found["files"])
        assert set(found) == {"experiment", "quick", "config", "versions", "seconds", "files", "summary"}


def test_unknown_names(command, tmp_path):
    """The names are listed, with the closest one."""
    ran = command("reproduce", "heatmap", "--out", tmp_path / "x")
    assert ran.code == 2
    assert "role-of-m, heat-map, eta, running-time, instances, all" in ran.err
    assert "did you mean 'heat-map'" in ran.err
    assert not (tmp_path / "x").exists()
    assert command("reproduce").code == 2


def test_folders_that_cannot_be(command, tmp_path):
    """A file in the place of the folder is an error before anything is computed."""
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "inside"):
        ran = command("reproduce", "heat-map", "--out", out)
        assert ran.code == 2
        assert "--out is" in ran.err
        assert "choose another folder" in ran.err
        assert "Traceback" not in ran.err


def test_missing_matplotlib(command, tmp_path, monkeypatch):
    """Without it nothing is computed, and the remedy is named."""
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    ran = command("reproduce", "heat-map", "--out", tmp_path)
    assert ran.code == 2
    assert "bisimetric[plot]" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_interrupts(command, tiny, tmp_path, monkeypatch):
    """Ctrl-C ends with 130; what was finished stays, what was not has left nothing."""

    def interrupted(config, workplace):
        raise KeyboardInterrupt

    stopped = replace(ALL["instances"], run=interrupted)
    monkeypatch.setattr(_reproduce, "ALL", {"heat-map": ALL["heat-map"], "instances": stopped})
    ran = command("reproduce", "all", "--quick", "--out", tmp_path)
    assert ran.code == 130
    assert ran.err == "bisimetric: interrupted\n"
    assert {file.name for file in tmp_path.iterdir()} == {"heat-map.json", "heat-map.png"}


def test_progress_is_told(tiny, tmp_path, monkeypatch):
    """The line on stderr names the experiment and what it does."""
    said = []

    class Told(_reproduce.Progress):
        def doing(self, what):
            said.append(what)

    monkeypatch.setattr(_reproduce, "Progress", Told)
    _reproduce.run_reproduce("instances", str(tmp_path), quick=True, as_json=True)
    assert said[0] == "instances: starting"
    assert "instances: pair 28 of 28" in said
    assert said[-1] == "instances: drawing"
