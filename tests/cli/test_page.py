"""The page on the command line does what it says."""

import re
import shlex
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
LINES = re.findall(r"(?m)^bisimetric .*$", "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)))


def test_every_line_runs(command, tmp_path, monkeypatch):
    """One after the other, without a word on stderr but where files are."""
    monkeypatch.chdir(tmp_path)
    assert len(LINES) >= 15
    for line in LINES:
        ran = command(*shlex.split(line)[1:])
        assert ran.code == 0, (line, ran.err)
        assert all(re.search(" is in [a-zA-Z.]+$", note) for note in ran.err.splitlines()), ran.err
    written = {path.name for path in tmp_path.iterdir()}
    assert {
        "rooms.json",
        "lake.json",
        "walk.npz",
        "rooms.drn",
        "rooms.png",
        "D.csv",
        "tiny.tra",
        "tiny.trew",
    } <= written
