"""Where results go: stdout without tricks, JSON without NaN, and files that can be written."""

from __future__ import annotations

import json
import math

import pytest
from rich.text import Text

from bisimetric.cli.output import Expense, Meter, check_output, check_picture, facts_table, print_json, show
from bisimetric.errors import InvalidOption


def test_text_is_printed_literally(capsys, monkeypatch):
    """Names are data: no markup, no emoji, no spaces at the end of a line."""
    monkeypatch.setenv("COLUMNS", "40")
    show(Text("[bold]x[/] :smile:"), facts_table([("name", "fact")], bold="name"))
    out = capsys.readouterr().out
    assert "[bold]x[/] :smile:" in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_json_has_no_nan(capsys):
    """Numbers that are not finite become null, at any depth."""
    print_json({"a": [math.nan, 1.0, {"b": math.inf}], "c": ("é", -math.inf)})
    out = capsys.readouterr().out
    assert json.loads(out) == {"a": [None, 1.0, {"b": None}], "c": ["é", None]}
    assert out.isascii()


def test_expenses():
    """Time and memory, as rows and as JSON."""
    assert dict(Expense(1.0, 61.0, None).facts()) == {"time": "1.00 s CPU, 1 min 1 s wall"}
    spent = Meter().read()
    assert spent.document()["seconds"]["cpu"] >= 0.0
    assert spent.memory is None or spent.memory > 2**20


def test_files_that_cannot_be_written(tmp_path):
    """Are refused before the work begins."""
    check_output(None, "--out")
    check_output(str(tmp_path / "a.json"), "--out")
    (tmp_path / "folder.json").mkdir()
    for path, said in (
        ("a.txt", "expected a file name that ends in"),
        ("folder.json", "which is a folder"),
        ("missing/a.json", "does not exist; make it before"),
    ):
        with pytest.raises(InvalidOption, match=said):
            check_output(str(tmp_path / path), "--out")
    with pytest.raises(InvalidOption, match="--plot"):
        check_picture(str(tmp_path / "a.gif"), "--plot")
