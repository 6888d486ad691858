"""The page on the command line does what it says."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas
import pytest

import bisimetric as bm

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
LINES = re.findall(r"(?m)^bisimetric .*$", "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)))


def write_logs(folder):
    """Logs of one process, as Parquet and as CSV, with the columns that the page names; and a chain on their states."""
    random = np.random.default_rng(1)
    for name in ("before", "after", "visits"):
        sessions = np.repeat(np.arange(40), 6)
        log = {
            "session": sessions,
            "time": np.tile(np.arange(6), 40),
            "page": random.choice(list("abc"), len(sessions)),
        }
        frame = pandas.DataFrame(log)
        frame.to_parquet(folder / f"{name}.parquet")
        frame.set_axis(["user", "t", "screen"], axis=1).to_csv(folder / f"{name}.csv", index=False)
    bm.save(bm.MarkovChain(np.full((3, 3), 1 / 3), start=0, labels=list("abc")), folder / "other.json")


@pytest.mark.slow
def test_every_line_runs(command, tmp_path, monkeypatch):
    """One after the other, without a word on stderr but what is compiled and where files are."""
    monkeypatch.chdir(tmp_path)
    write_logs(tmp_path)
    assert len(LINES) >= 15
    for line in LINES:
        ran = command(*shlex.split(line)[1:])
        assert ran.code == 0, (line, ran.err)
        notes = ran.err.splitlines()
        assert all(re.search("compiling kernels for | is in [a-zA-Z.]+$", note) for note in notes), notes
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
