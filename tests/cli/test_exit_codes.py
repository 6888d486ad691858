"""Exit codes and one-line errors."""

import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from bisimetric.cli import main

ROOMS = ("distance", "four-rooms:p1", "four-rooms:p0", "--discount", 0.95)


def test_within_the_limit(command):
    """The code is 0 if the upper bound is at most X."""
    ran = command(*ROOMS, "--fail-above", 0.5)
    assert ran.code == 0
    assert ran.out.splitlines()[-1].startswith("within the limit 0.5: the distance is at most 0.435")


def test_above_the_limit(command):
    """The code is 1 if the lower bound is above X."""
    ran = command(*ROOMS, "--fail-above", 0.4)
    assert ran.code == 1
    assert ran.out.splitlines()[-1].startswith("above the limit 0.4: the distance is at least 0.435")


def test_undecided(command):
    """The code is 3 if the limit is inside the interval."""
    loose = command(*ROOMS, "--tol", 0.01, "--json").document
    assert loose["lower"] < loose["upper"]
    limit = (loose["lower"] + loose["upper"]) / 2
    ran = command(*ROOMS, "--tol", 0.01, "--fail-above", limit, "--json")
    assert ran.code == 3
    assert ran.document["limit"] == {"fail_above": limit, "verdict": "undecided"}
    assert ran.err.startswith("bisimetric: undecided")


def test_the_bounds_themselves_decide(command):
    """A limit equal to the upper bound is met; one equal to the lower bound is undecided."""
    loose = command(*ROOMS, "--tol", 0.01, "--json").document
    assert command(*ROOMS, "--tol", 0.01, "--fail-above", loose["upper"]).code == 0
    assert command(*ROOMS, "--tol", 0.01, "--fail-above", loose["lower"]).code == 3


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_tolerance_not_reached(command, flags):
    """A missed explicit tolerance gives the usual answer, the interval on stderr, and code 3."""
    ran = command(*ROOMS, "--tol", 1e-9, "--max-steps", 1, *flags)
    assert ran.code == 3
    assert "STEP_LIMIT" in ran.out
    assert "the tolerance 1e-09 was not reached; the distance is in [" in ran.err
    assert ran.err.count("\n") == 1


LARGE = ("distance", "four-rooms:side=20", "four-rooms:side=20,goal=all", "--discount", 0.999, "--time-limit", 1e-3)


def test_a_time_limit(command):
    """The interval reached by then, without an explanation: undecided, unless it decides about --fail-above."""
    ran = command(*LARGE, "--json")
    assert ran.code == 3
    assert ran.document["status"] == "TIME_LIMIT"
    assert ran.document["lower"] < ran.document["upper"]
    assert ran.document["explain"] is None
    assert "raise --time-limit" in ran.err
    assert command(*LARGE, "--tol", 1e-6).code == 3
    for limit, code in ((1e9, 0), (1e-9, 1), (50.0, 3)):
        assert command(*LARGE, "--fail-above", limit).code == code


@pytest.mark.parametrize("seconds", [-1, 0, "nan", "soon"])
def test_a_wrong_time_limit(command, seconds):
    """It is a positive number of seconds, for every command that solves."""
    for arguments in (ROOMS, ("states", "grid-3x3")):
        ran = command(*arguments, "--time-limit", seconds)
        assert (ran.code, ran.out) == (2, "")
        assert "time" in ran.err


def test_the_verdict_holds_whatever_the_tolerance(command):
    """The interval reached is certified, so it may decide although the tolerance was missed."""
    ran = command(*ROOMS, "--tol", 1e-9, "--max-steps", 1, "--fail-above", 15)
    assert ran.code == 0
    assert "was not reached" in ran.err


def test_default_tolerance_not_reached(command):
    """A missed default tolerance is reported, and the code is 0."""
    ran = command(*ROOMS, "--max-steps", 1)
    assert ran.code == 0
    assert "STEP_LIMIT" in ran.out
    assert "stopped early" in ran.err


def bad_input(tmp_path):
    """Arguments that are wrong, and a word that the error must contain."""
    ragged, square, wrong, text, empty = (
        tmp_path / name for name in ("ragged.json", "rectangle.json", "wrong.npy", "text.csv", "empty.csv")
    )
    ragged.write_text("[[1, 2], [3]]")
    square.write_text(json.dumps({"transitions": [[0.5, 0.5]]}))
    np.save(wrong, np.ones((3, 4)))
    text.write_text("a,b\n")
    empty.write_text("")
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([[object()]]), allow_pickle=True)
    rooms = ROOMS[1:3]
    fine = ("--discount", 0.9)
    return [
        (("nowhere", "grid-3x3", *fine), "nowhere"),
        (("four-rooms:p77", "grid-3x3", *fine), "p77"),
        ((tmp_path / "missing.json", "grid-3x3", *fine), "missing.json"),
        ((square, "grid-3x3", *fine), "square"),
        ((*rooms, "--discount", 1.5), "discount is 1.5"),
        ((*rooms, "--discount", "nan"), "discount"),
        ((*rooms, "--discount", "x"), "--discount"),
        (rooms, "--discount"),
        ((rooms[0], *fine), "B"),
        ((*rooms, *fine, "--solver", "policy-iterator"), "did you mean 'policy-iteration'"),
        ((*rooms, *fine, "--tol", 0), "tol"),
        ((*rooms, *fine, "--max-steps", 0), "--max-steps"),
        ((*rooms, *fine, "--start", 0, 99), "99"),
        ((*rooms, *fine, "--cost", wrong), "(3, 4)"),
        ((*rooms, *fine, "--cost", ragged), "ragged"),
        ((*rooms, *fine, "--cost", text), "text.csv"),
        ((*rooms, *fine, "--cost", empty), "empty"),
        ((*rooms, *fine, "--cost", pickled), "pickled.npy"),
        ((*rooms, *fine, "--cost", tmp_path / "missing.npy"), "missing.npy"),
        ((*rooms, *fine, "--cost", "rewards"), "'reward', 'labels'"),
        ((*rooms, *fine, "--out", tmp_path / "x.pkl"), ".npz"),
        ((*rooms, *fine, "--out", tmp_path / "nowhere" / "x.npz"), "does not exist"),
        ((*rooms, *fine, "--fail-above", "nan"), "--fail-above"),
        ((*rooms, *fine, "--unknown"), "--unknown"),
    ]


@pytest.mark.parametrize("k", range(24))
def test_bad_input(command, tmp_path, k):
    """One line on stderr names the wrong argument; nothing is on stdout; the code is 2."""
    arguments, word = bad_input(tmp_path)[k]
    ran = command("distance", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("bisimetric: error: ")
    assert ran.err.count("\n") == 1
    assert word in ran.err


def test_all_bad_input_is_tried(tmp_path):
    """The parameters above cover the list."""
    assert len(bad_input(tmp_path)) == 24


def test_fail_above_needs_starts(command, chain_file):
    """Without starts there is no single distance to judge."""
    file = chain_file()
    ran = command("distance", file, file, "--discount", 0.9, "--fail-above", 1)
    assert ran.code == 2
    assert "--start" in ran.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_as_cost_is_refused(command, tmp_path):
    """A named pipe is refused, because reading it could block."""
    os.mkfifo(tmp_path / "cost.csv")
    ran = command(*ROOMS, "--cost", tmp_path / "cost.csv")
    assert ran.code == 2
    assert "regular file" in ran.err


def test_a_cost_file_that_is_too_large(command, tmp_path):
    """A file is refused for its size before it is read."""
    file = tmp_path / "cost.csv"
    with file.open("wb") as sparse:
        sparse.truncate(2**31)
    ran = command(*ROOMS, "--cost", file)
    assert ran.code == 2
    assert "2.15 GB" in ran.err


def test_error_messages_are_inert(command, tmp_path):
    """Control characters in file names are escaped."""
    ran = command("distance", "\x1b[31m", "x", "--discount", 0.9)
    assert ran.code == 2
    assert "\x1b" not in ran.err
    ran = command("distance", tmp_path / "\x1b[31m.json", "x", "--discount", 0.9)
    assert "\x1b" not in ran.err


def test_errors_as_a_user_sees_them(process):
    """Errors come without a traceback."""
    for arguments in (("distance", "nowhere", "x", "--discount", 0.9), ("distanse",), ("--nope",)):
        ran = process(*arguments)
        assert ran.code == 2
        assert ran.out == ""
        assert "Traceback" not in ran.err
        assert ran.err.startswith("bisimetric: error: ")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes that close")
@pytest.mark.parametrize("arguments", [("--help",), ("environments",), ("solvers",), ROOMS])
def test_a_closed_pipe(arguments):
    """`| head` ends it quietly, with the code a shell gives for a closed pipe."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "bisimetric", *map(str, arguments)],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk():
    """An answer that could not be written is an error."""
    with open("/dev/full", "w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "bisimetric", "environments"],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


@pytest.mark.parametrize(("limit", "code"), [(100, 0), (0.1, 1)])
@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdin", "stdout", "stderr")])
def test_closed_streams(monkeypatch, closed, limit, code):
    """With closed streams the exit code is still the verdict."""
    for name in closed:
        monkeypatch.setattr(sys, name, None)  # as Python has it when it starts without one
    assert main([*map(str, ROOMS), "--fail-above", str(limit)]) == code


CLOSING = """
import os, sys
os.closerange(0, 3)
os.execv(sys.executable, [sys.executable, "-m", "bisimetric", *sys.argv[1:]])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs to start a process in the place of another")
@pytest.mark.parametrize(("arguments", "code"), [(("--version",), 0), (("--nope",), 2)])
def test_a_process_without_streams(arguments, code):
    """The parser and the exit of the interpreter work without streams."""
    assert subprocess.run([sys.executable, "-c", CLOSING, *arguments], timeout=120).returncode == code


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ZeroDivisionError("by zero"), "a defect of bisimetric, please report it: ZeroDivisionError: by zero ("),
        (MemoryError(), "error: out of memory"),
        (ImportError("no numpy"), "a library cannot be loaded, for lack of memory or"),
        (RecursionError("deep"), "RecursionError"),
    ],
)
def test_any_error_is_one_line(command, monkeypatch, error, says):
    """Every exception gives one line and code 2, never 1."""

    def fail(request):
        raise error

    monkeypatch.setattr("bisimetric.cli.distance.run", fail)
    ran = command(*ROOMS, "--fail-above", 100)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_stderr():
    """A stderr that cannot be written does not change the code."""
    with open("/dev/full", "w") as err:
        command = [sys.executable, "-m", "bisimetric", "distance", "x"]
        assert subprocess.run(command, stdout=subprocess.DEVNULL, stderr=err, timeout=120).returncode == 2


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
os.execv(sys.executable, [sys.executable, "-m", "bisimetric", *sys.argv[2:]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the address space")
@pytest.mark.parametrize("megabytes", [60, 130])
def test_too_little_memory(megabytes):
    """Too little memory gives one line, even where numpy cannot be loaded."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(megabytes * 2**20), *map(str, ROOMS)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("bisimetric: error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_progress_and_interrupt_on_a_terminal():
    """A line with step, certified interval and seconds appears; Ctrl-C ends with the interval reached and 130."""
    import pty
    import signal

    ours, theirs = pty.openpty()
    chains = [f"four-rooms:side=32,goal={goal}" for goal in ("north-west", "south-east")]
    arguments = ["distance", *chains, "--discount", "0.999", "--json"]  # ten seconds, of which it may have two
    running = subprocess.Popen(
        [sys.executable, "-m", "bisimetric", *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    seen, asked, until = "", False, time.monotonic() + 120
    try:
        while time.monotonic() < until:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            seen += chunk.decode(errors="replace")
            if not asked and re.search(r"solving, step \d+, certified \[", seen):
                running.send_signal(signal.SIGINT)
                asked = True
        out = running.communicate(timeout=60)[0]
    finally:
        running.kill()
        os.close(ours)
    assert asked
    assert running.returncode == 130
    assert out == b""
    assert "bisimetric: the distance is in [" in seen
