"""The scripts in the shells that they are for. zsh and fish have to be installed for the slow tests."""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

from bisimetric.cli import main
from bisimetric.cli.completion.scripts import SCRIPTS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix shell")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home folder and a folder with files; the command is in the path under its name."""
    home, work, programs = tmp_path / "home", tmp_path / "work", tmp_path / "bin"
    for folder in (home, work, programs, work / "pairs"):
        folder.mkdir()
    (work / "mine.json").write_text("{}")
    program = programs / "bisimetric"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bisimetric "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "BASH_COMPLETION_USER_DIR", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(work)
    return home


BASH_TEST = r"""
. "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=("${@:3}") COMP_CWORD=$(($# - 3))
_bisimetric_completion
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["bisimetric", "dist"], ["distance"]),
        (["bisimetric", "distance", "--sol"], ["--solver"]),
        (["bisimetric", "distance", "four-rooms", ":", "p1"], ["p1"]),
        (["bisimetric", "distance", "a", "b", "--solver", "=", "lin"], ["linear-program"]),
        (["bisimetric", "distance", "mi"], ["mine.json"]),
        (["bisimetric", "pairwise", "a", "--store", "p"], ["pairs"]),
    ],
)
def test_bash(place, words, expected):
    """The function fills COMPREPLY; bash splits words at : and =."""
    script = place / "script"
    script.write_text(SCRIPTS["bash"])
    line = " ".join(words).replace(" : ", ":").replace(" = ", "=")
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH_TEST, "bash", str(script), line, *words],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


def typed(shell, keys, until):
    """Type keys into an interactive shell; returns what it shows without colours, as soon as that holds `until`."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm", "COLUMNS": "200", "PS1": "READY> ", "PROMPT": "READY> "}
        os.execvp(shell[0], shell)
    shown, sent, end = "", False, time.monotonic() + 60
    try:
        while time.monotonic() < end and until not in shown:
            if select.select([terminal], [], [], 0.5)[0]:
                shown += re.sub("\x1b\\[[0-9;]*m", "", os.read(terminal, 65536).decode(errors="replace"))
            elif not sent:
                os.write(terminal, keys.encode())
                sent, shown = True, ""
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
    return shown


INTERACTIVE = [
    ("bisimetric dist\t", "distance "),
    ("bisimetric distance --sol\t", "--solver "),
    ("bisimetric distance a b --solver=lin\t", "--solver=linear-program"),
    ("bisimetric distance matching\t", "matching-four-rooms"),
    ("bisimetric distance open\t5 mi\t", "open-grid:5 mine.json"),
    ("bisimetric distance a b --solver sinkhorn-bellman --set ro\t7", "rounds=7"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "expected"), INTERACTIVE)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_installed(place, capsys, shell, keys, expected):
    """After `--install-completion` a new shell completes words, values, names and files at the prompt."""
    assert shutil.which(shell), f"install {shell}"
    assert main(["--install-completion", shell]) == 0
    assert expected in typed([shell, "-i"], keys, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bisimetric dist", ["distance\tThe certified distance between two chains"]),
        ("bisimetric distance --sol", ["--solver\tSolver, by default an exact one"]),
        ("bisimetric distance a b --solver=lin", ["--solver=linear-program\tExact"]),
        ("bisimetric distance four-rooms:p7", ["four-rooms:p7"]),
        ("bisimetric distance mi", ["mine.json"]),
        ("bisimetric pairwise a --store p", ["pairs/\tDirectory"]),
    ],
)
def test_installed_in_fish(place, capsys, line, expected):
    """fish tells what it would complete."""
    assert shutil.which("fish"), "install fish"
    assert main(["--install-completion", "fish"]) == 0
    done = subprocess.run(["fish", "-c", 'complete -C "$argv[1]"', line], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == expected
