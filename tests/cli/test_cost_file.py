"""Tables of costs in files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bisimetric.cli import cost_file
from bisimetric.cli.cost_file import read_costs
from bisimetric.errors import FileFormatError

TABLE = [[0.0, 1.5], [2.0, 0.25]]


@pytest.mark.parametrize("ending", [".npy", ".csv", ".json"])
def test_every_format(ending, tmp_path):
    """Gives the same numbers."""
    path = tmp_path / f"cost{ending}"
    if ending == ".npy":
        np.save(path, TABLE)
    elif ending == ".csv":
        np.savetxt(path, TABLE, delimiter=",")
    else:
        path.write_text(json.dumps(TABLE))
    assert np.asarray(read_costs(str(path), (2, 2))).tolist() == TABLE


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cost.txt", "1", "expected 'reward', 'labels', "),
        ("cost.json", "{}", "expected a list of rows"),
        ("cost.json", "[[1,", "is not a .json table"),
        ("cost.json", "[" * 100_000, "is not a .json table"),
    ],
)
def test_what_is_no_table(name, content, said, tmp_path):
    """Is refused in one line."""
    (tmp_path / name).write_text(content)
    with pytest.raises(FileFormatError, match=said):
        read_costs(str(tmp_path / name), (1, 1))


def test_folders_and_large_files_are_not_read(tmp_path, monkeypatch):
    """Before anything is allocated."""
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileFormatError, match="not a regular file"):
        read_costs(str(tmp_path / "folder.csv"), (1, 1))
    monkeypatch.setattr(cost_file, "ALWAYS_ALLOWED", 10)
    (tmp_path / "large.csv").write_text("1," * 100)
    with pytest.raises(FileFormatError, match="expected at most"):
        read_costs(str(tmp_path / "large.csv"), (1, 1))
