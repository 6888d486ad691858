"""The line that shows what is being done."""

from __future__ import annotations

import sys

import bisimetric as bm
from bisimetric.cli import progress as module
from bisimetric.cli.messages import quietly
from bisimetric.cli.progress import Progress


class Terminal:
    """A stderr that says it is one, and keeps what it gets."""

    encoding = "utf-8"

    def __init__(self, real):
        self.real, self.text = real, []

    def isatty(self):
        return True

    def write(self, text):
        self.text.append(text)
        return len(text)

    def flush(self):
        """Nothing is held back."""


def test_the_line():
    """Phase, step and gap; a new phase forgets the step."""
    progress = Progress()
    progress.doing("solving")
    assert progress.line().startswith("solving, ")
    progress.on_step(bm.Step(3, 0.5, 1.0))
    assert "step 3, gap 5.0e-01" in progress.line()
    progress.doing("saving")
    assert "step" not in progress.line()


def test_nothing_where_nobody_looks(capsys, monkeypatch):
    """Not in a pipe, not when quiet."""
    monkeypatch.setattr(module, "DELAY", 0.0)
    with Progress() as progress:
        progress.doing("solving")
        assert progress._timer is None
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    with quietly(True), Progress() as progress:
        assert progress._timer is None
    assert sys.stderr.text == []


def test_short_work_shows_nothing(monkeypatch):
    """The line appears after a while only, and its timer ends with the work."""
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    monkeypatch.setenv("TERM", "xterm")
    with Progress() as progress:
        progress.doing("solving")
        assert progress._timer is not None
    assert not progress._timer.is_alive()
    assert sys.stderr.text == []
