"""bisimetric warm-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from bisimetric.cli import main
from bisimetric.many import warm_up


def test_seconds_of_every_kind(monkeypatch, capsys):
    """As text, as JSON, and nothing at all if quiet."""
    monkeypatch.setattr(warm_up, "TASKS", {"short rows": lambda: None})
    assert main(["warm-up"]) == 0
    assert "short rows" in capsys.readouterr().out
    assert main(["warm-up", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"seconds": 0.0, "kinds": {"short rows": 0.0}}
    assert main(["warm-up", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_nothing_is_compiled_where_nothing_is_kept(tmp_path):
    """An image that is built like that would not be warm: the error names the variable."""
    (tmp_path / "file").touch()
    environment = {**os.environ, "BISIMETRIC_CACHE_DIR": str(tmp_path / "file")}
    command = [sys.executable, "-m", "bisimetric", "warm-up"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "set BISIMETRIC_CACHE_DIR" in done.stderr
    assert "compiling" not in done.stderr
