"""bisimetric warm-up."""

from __future__ import annotations

import json

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
