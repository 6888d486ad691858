"""Pictures and tables in docs are those of the records: `python docs/figures.py` makes them."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LARGEST_RECORD = 500_000  # bytes


@pytest.fixture
def figures():
    """docs/figures.py as a module."""
    spec = importlib.util.spec_from_file_location("figures", ROOT / "docs" / "figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_stale(figures):
    """Every picture shows what its record says, is the file that was made then, and tables are the records' too."""
    assert figures.check() == [], "run python docs/figures.py"
    committed = [file for folder in (figures.IMAGES, figures.RESULTS) for file in folder.glob("*.png")]
    assert sorted(file.name for file in committed) == sorted(json.loads(figures.CONTENTS.read_text()))


def test_pages_show_only_pictures_that_are_made():
    """README and docs show committed pictures, and those are made by docs/figures.py (the test above)."""
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            picture = (page.parent / link).resolve()
            assert picture.is_file(), f"{page.name}: {link}"
            assert picture.parent in {ROOT / "docs" / "images", ROOT / "benchmarks" / "results"}, f"{page.name}: {link}"


def test_records_are_small():
    """They are read by people and kept in the repository."""
    for file in (ROOT / "docs" / "reproduction").glob("*.json"):
        assert file.stat().st_size <= LARGEST_RECORD, file.name


def test_what_is_stale_is_seen(figures, monkeypatch, tmp_path):
    """A changed record, a changed file and a changed table each show."""
    images, records = tmp_path / "images", tmp_path / "reproduction"
    images.mkdir()
    records.mkdir()
    for file in figures.IMAGES.iterdir():
        (images / file.name).write_bytes(file.read_bytes())
    for file in figures.RECORDS.iterdir():
        (records / file.name).write_bytes(file.read_bytes())
    page = tmp_path / "page.md"
    monkeypatch.setattr(figures, "ALL", {"heat-map": figures.ALL["heat-map"]})
    monkeypatch.setattr(figures, "PICTURES", {})
    monkeypatch.setattr(figures, "IMAGES", images)
    monkeypatch.setattr(figures, "RECORDS", records)
    monkeypatch.setattr(figures, "CONTENTS", images / "contents.json")
    monkeypatch.setattr(figures, "PAGES", [page])
    page.write_text("<!-- table: heat-map 0 -->\n<!-- end -->\n")
    figures.write()
    assert figures.check() == []
    assert "| (0,0) |" in page.read_text()
    picture = images / "reproduction-heat-map.png"
    drawn = picture.read_bytes()
    picture.write_bytes(drawn + b" ")
    assert figures.check() == ["reproduction-heat-map.png"]
    picture.write_bytes(drawn)
    page.write_text(page.read_text().replace("| (0,0) |", "| (0,1) |"))
    assert figures.check() == ["page.md"]
    record = json.loads((records / "heat-map.json").read_text())
    record["result"]["distances"][5] += 0.01
    (records / "heat-map.json").write_text(json.dumps(record))
    assert figures.check() == ["reproduction-heat-map.png", "page.md"]
