"""The line that shows what is being done."""

from __future__ import annotations

import re
import sys

import pytest

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
    assert progress.line() == "solving, 0 s"
    progress.stepped(3, 0.5, None)
    assert progress.line() == "solving, step 3, gap 5e-01, 0 s"
    progress.stepped(4, 0.25, 0.125)
    assert progress.line() == "solving, step 4, about 0.125 ± 2e-01, 0 s"
    progress.doing("saving")
    assert progress.line() == "saving, 0 s"


def test_certified_intervals_shrink():
    """Each of them holds, so they are intersected; a new solve begins anew."""
    progress = Progress()
    progress.doing("solving")
    progress.certified((0.0, 2.0), 2.0)
    progress.certified((0.5, 2.5), 2.0)
    assert "certified [0.5, 2.0]" in progress.line()
    progress.began()
    assert "certified" not in progress.line()
    progress.certified(None, 0.25)
    assert "certified within 2.5e-01" in progress.line()
    progress.began()
    progress.certified((0.12345678901234, 0.12345678901235), 1e-14)
    assert "certified ± 5" in progress.line()


def test_the_share_of_a_long_sweep(monkeypatch):
    """Not of a short one, and not after its end."""
    progress = Progress()
    progress.worked(0.25)
    assert "sweep" not in progress.line()
    monkeypatch.setattr(module, "LONG_WORK", -1.0)
    progress.worked(0.5)
    assert "sweep 50%" in progress.line()
    progress.stepped(1, 0.5, None)
    assert "sweep" not in progress.line()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_on_a_terminal(monkeypatch):
    """The line is drawn and removed again; what remains fits into 80 columns, and stdout is as in a pipe."""
    import fcntl
    import os
    import struct
    import subprocess
    import termios

    outer, inner = os.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    script = (
        "from bisimetric.cli import main, progress; progress.DELAY = 0.0; "
        "main(['distance', 'four-rooms:side=10', 'four-rooms:side=11', '--discount', '0.99', '--start', '0', '5'])"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    started = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=inner, env={**environment, "TERM": "xterm"}
    )
    os.close(inner)
    drawn = b""
    while True:
        try:
            part = os.read(outer, 4096)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        drawn += part
    out = started.communicate()[0].decode()
    os.close(outer)
    assert started.returncode == 0
    assert "\x1b" not in out
    assert "certified" in out
    text = drawn.decode()
    assert "solving" in text
    assert "\x1b[2K" in text
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    assert max(len(line) for line in re.split("[\r\n]", plain)) <= 80


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
