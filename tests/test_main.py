"""`python -m bisimetric` is the command."""

from __future__ import annotations

import subprocess
import sys

import bisimetric as bm


def run(*arguments):
    """The finished process."""
    return subprocess.run([sys.executable, "-m", "bisimetric", *arguments], capture_output=True, text=True, check=False)


def test_the_module_is_the_command():
    """Its version, its exit code, and its errors without a traceback."""
    assert bm.__version__ in run("--version").stdout
    wrong = run("distance", "no-such-model", "grid-3x3", "--discount", "0.9")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
    assert "no-such-model" in wrong.stderr
