"""`bisimetric reproduce`."""

from dataclasses import replace

import pytest

from bisimetric.cli import reproduce
from bisimetric.errors import PairwiseInterrupted
from bisimetric.experiments import ALL, instances


@pytest.fixture
def tiny(monkeypatch):
    """Two experiments that take little time."""
    few = replace(ALL["instances"], quick=instances.Config(wanted=(2, 2, 2, 2)))
    monkeypatch.setattr(reproduce, "ALL", {"heat-map": ALL["heat-map"], "instances": few})


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


@pytest.mark.parametrize("name", ["heat-map.json", "heat-map.png"])
def test_files_that_cannot_be_replaced(command, tmp_path, monkeypatch, name):
    """A folder in the place of a file is an error before anything is computed."""
    monkeypatch.setitem(ALL, "heat-map", replace(ALL["heat-map"], run=lambda *_: pytest.fail("computed")))
    (tmp_path / name).mkdir()
    ran = command("reproduce", "heat-map", "--out", tmp_path)
    assert ran.code == 2
    assert f"{name}: exists and is not a file" in ran.err


def test_default_folders(command, tiny, tmp_path, monkeypatch):
    """Quick runs do not replace full ones; a folder without a name is refused."""
    monkeypatch.chdir(tmp_path)
    assert command("reproduce", "heat-map").code == 0
    assert command("reproduce", "heat-map", "--quick").code == 0
    assert {folder.name for folder in tmp_path.iterdir()} == {"reproduction", "reproduction-quick"}
    assert "--out is empty" in command("reproduce", "heat-map", "--out", "").err


def test_missing_matplotlib(command, tmp_path, monkeypatch):
    """Without it nothing is computed, and the remedy is named."""
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    ran = command("reproduce", "heat-map", "--out", tmp_path)
    assert ran.code == 2
    assert "bisimetric[plot]" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_interrupts(command, tiny, tmp_path, monkeypatch):
    """Ctrl-C ends with 130 and says what was reached; what was finished stays, nothing is half-written."""

    def interrupted(config, workplace):
        raise PairwiseInterrupted("interrupted after 2 of 3 pairs; the same call goes on from there", 2, 3)

    monkeypatch.setitem(reproduce.ALL, "instances", replace(ALL["instances"], run=interrupted))
    ran = command("reproduce", "all", "--quick", "--out", tmp_path)
    assert ran.code == 130
    assert ran.err == "bisimetric: interrupted after 2 of 3 pairs; the same call goes on from there\n"
    assert {file.name for file in tmp_path.iterdir()} == {"heat-map.json", "heat-map.png"}


def test_progress_is_told(tiny, tmp_path, monkeypatch):
    """The line on stderr names the experiment and what it does."""
    said = []

    class Told(reproduce.Progress):
        def doing(self, what):
            said.append(what)

    monkeypatch.setattr(reproduce, "Progress", Told)
    reproduce.run_reproduce("instances", str(tmp_path), quick=True, as_json=True)
    assert said[0] == "instances: starting"
    assert "instances: pair 28 of 28" in said
    assert said[-1] == "instances: drawing"


def test_instances_of_a_folder(command, tmp_path):
    """They take the place of ours; a damaged one is an error before anything is written."""
    inside = tmp_path / "published"
    inside.mkdir()
    for k in range(3):
        rows = [[0.5, 0.5], [0.25 * k, 1 - 0.25 * k]]
        (inside / f"pi_{k}.json").write_text(
            f'{{"transition_function": {rows}, "reward": [0.0, 1.0], "nu_0": [1.0, 0.0]}}'
        )
    ran = command("reproduce", "instances", "--instances", inside, "--out", tmp_path / "out")
    assert ran.code == 0
    assert "3 instances" in ran.out
    (inside / "pi_1.json").write_text("{")
    ran = command("reproduce", "instances", "--instances", inside, "--out", tmp_path / "other")
    assert ran.code == 2
    assert "pi_1.json: is not JSON" in ran.err
    assert not (tmp_path / "other").exists()
    assert "--instances is for" in command("reproduce", "heat-map", "--instances", inside).err
