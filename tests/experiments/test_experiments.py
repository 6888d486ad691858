"""What all experiments have in common: records, files, pictures, tables."""

import json
from dataclasses import asdict, replace

import pytest

from bisimetric import plot
from bisimetric.cli.output import show
from bisimetric.cli.reproduce import tables_as_text
from bisimetric.errors import FileFormatError
from bisimetric.experiments import ALL, Workplace, read_record, write_record

PANELS = {
    "role-of-m": {"role-of-m": 4},
    "heat-map": {"heat-map": 3},
    "eta": {"eta": 4},
    "running-time": {"running-time": 2, "running-time-tuned": 1},
    "instances": {"instances": 2 + 3 + 3 + 2 + 2},  # the points, the tree, and the maps of each kind
}


# those that measure for seconds are slow
EXPERIMENTS = [pytest.param(name, marks=pytest.mark.slow) if name in {"eta", "running-time"} else name for name in ALL]


def test_all_five():
    """The names are those of the command."""
    assert list(ALL) == ["role-of-m", "heat-map", "eta", "running-time", "instances"]
    assert all(experiment.name == name for name, experiment in ALL.items())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_records_say_how_they_were_made(name, records):
    """Settings, versions and seconds are in the file."""
    record = records(name)
    assert record["experiment"] == name
    assert record["quick"] is False
    assert {"bisimetric", "python", "numpy", "scipy", "numba", "matplotlib"} == set(record["versions"])
    assert record["seconds"]["cpu"] >= 0.0
    assert set(record["config"]) == set(asdict(ALL[name].config))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_pictures_come_from_the_file(name, records, tmp_path):
    """The record is all that a picture needs; panels have titles, and labels on their axes."""
    figures = ALL[name].draw(json.loads(json.dumps(records(name))))
    assert {stem: len(figure.axes) for stem, figure in figures.items()} == PANELS[name]
    assert tuple(figures) == ALL[name].pictures
    for stem, figure in figures.items():
        assert all(axes.get_title(loc="left") for axes in figure.axes)
        plot.save(figure, tmp_path / f"{stem}.png")
        assert (tmp_path / f"{stem}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_tables_and_summaries(name, records, capsys, monkeypatch):
    """Rows fit their heads and 80 columns, and the summary is JSON without NaN."""
    monkeypatch.setenv("COLUMNS", "80")
    tables = ALL[name].tables(records(name))
    for table in tables:
        assert table.body
        assert all(len(row) == len(table.head) for row in table.body)
    show(*tables_as_text(tables))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > sum(len(table.body) for table in tables)
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    assert json.loads(json.dumps(ALL[name].summary(records(name)), allow_nan=False))


def test_quick_is_quicker():
    """The short settings are a part of the full ones, where these take long."""
    quick, full = ALL["running-time"].quick, ALL["running-time"].config
    assert quick.sizes[-1] < full.sizes[-1]
    assert quick.tuned_sizes[-1] < full.tuned_sizes[-1]
    for setting in ("kinds", "sizes", "seeds", "discounts", "tuned_seeds", "tuned_discounts"):
        assert set(getattr(quick, setting)) <= set(getattr(full, setting))
    for name in ("role-of-m", "eta"):
        assert ALL[name].quick.rounds < ALL[name].config.rounds


def test_a_quick_record_says_so(tmp_path):
    """Only settings that differ from the full ones count as quick."""
    experiment = replace(ALL["eta"], run=lambda config, workplace: {})
    here = Workplace(lambda what: None, tmp_path)
    assert experiment.record(experiment.quick, here)["quick"] is True
    assert experiment.record(experiment.config, here)["quick"] is False
    assert ALL["heat-map"].record(ALL["heat-map"].quick, here)["quick"] is False


def test_a_failed_write_leaves_the_old_record(records, tmp_path):
    """A record that cannot be written as JSON does not touch the file."""
    place = tmp_path / "heat-map.json"
    write_record(records("heat-map"), place)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_record({**records("heat-map"), "result": float("nan")}, place)
    assert read_record(place) == records("heat-map")
    assert [file.name for file in tmp_path.iterdir()] == ["heat-map.json"]


@pytest.mark.parametrize("text", ["{}", "[1]", "nonsense", '{"format": "bisimetric chain"}'])
def test_other_files_are_no_records(text, tmp_path):
    """The error names the file."""
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"x\.json"):
        read_record(tmp_path / "x.json")
    with pytest.raises(FileFormatError, match="no such file"):
        read_record(tmp_path / "y.json")


def test_no_folder_to_write_to(records, tmp_path):
    """The error says which folder is missing."""
    with pytest.raises(FileFormatError, match="no folder"):
        write_record(records("heat-map"), tmp_path / "missing" / "x.json")
