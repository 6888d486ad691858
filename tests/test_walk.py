"""How many files the three walks of `tests/walk.py` visit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import walk

MOST_FILES = 18  # from the call of `bm.distance` to its answer


@pytest.fixture(scope="module")
def found():
    """The three walks."""
    return walk.walks()


def test_a_distance_visits_few_files(found):
    """From the call to the distance between the starts."""
    distance = found[0]
    assert len(distance.files) <= MOST_FILES, distance.text()


def test_walks_repeat(found):
    """The same files in the same order each time, so that a text about them stays true."""
    assert walk.text(walk.walks()) == walk.text(found)


def test_folders_entered_again():
    """Counted outside the solver's loop; files of the package itself are in no folder."""
    files = ("_distance.py", "models/rows.py", "io/files.py", "kernels/check.py", "io/models.py", "models/chain.py")
    made = walk.Walk("made up", files, 5)
    assert made.entered_again == ["models"]
    assert made.text().splitlines()[2:4] == ["  models/ rows", "  io/ files"]


def test_architecture_shows_the_walks(found):
    """The fenced block under the heading "Three walks" is what `python -m tests.walk` prints first."""
    page = (Path(__file__).parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = re.search(r"(?ms)^#+ Three walks$.*?^```[a-z]*\n(.*?)^```$", page)
    assert block, "ARCHITECTURE.md has no fenced block under a heading 'Three walks'"
    assert block[1] == walk.text(found)
