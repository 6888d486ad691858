"""Ways to run the command: in this process, or as a user would."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from bisimetric.cli import main


class Ran(NamedTuple):
    """Exit code and output of a run."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        """stdout as JSON, refusing NaN and infinity."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


@pytest.fixture
def command(capsys, monkeypatch):
    """Run the command in this process, 80 columns wide."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*argv):
        code = main([str(word) for word in argv])
        return Ran(int(code), *capsys.readouterr())

    return run


@pytest.fixture
def process():
    """Run the command in a process of its own."""

    def run(*argv, **variables):
        done = subprocess.run(
            [sys.executable, "-m", "bisimetric", *map(str, argv)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **variables},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def chain_file(tmp_path):
    """Write a chain file and return its path."""

    def write(name="chain.json", **fields):
        content = {"transitions": [[0.5, 0.5], [0.0, 1.0]], "reward": [0.0, 1.0], **fields}
        path = tmp_path / name
        path.write_text(json.dumps(content))
        return path

    return write
