"""What tests of the system's limits share."""

from __future__ import annotations

import pytest

from bisimetric._support import cgroups


@pytest.fixture
def system(monkeypatch, tmp_path):
    """Called with texts by file name: the made-up /proc and /sys/fs/cgroup of this test, `proc/` and `cgroup/`."""
    monkeypatch.setattr(cgroups, "PROC", tmp_path / "proc")
    monkeypatch.setattr(cgroups, "CGROUP", tmp_path / "cgroup")

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write
