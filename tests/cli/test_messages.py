"""Numbers, verdicts and lines of a command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.cli.messages import ExitCode, Verdict, digits, duration, is_quiet, judge, note, quietly, tell


@given(st.floats(0, 1e12), st.floats(0, 1e3), st.floats(0, 1e3))
def test_printed_bounds_hold(value, below, above):
    """Rounded outwards: the printed interval contains the true one."""
    lower, upper = max(value - below, 0.0), value + above
    shown = digits(value, lower, upper)
    assert float(shown.lower) <= lower
    assert upper <= float(shown.upper)


@pytest.mark.parametrize(
    ("interval", "limit", "verdict", "code"),
    [
        ((1.0, 2.0), 2.0, Verdict.WITHIN, ExitCode.SUCCESS),
        ((1.0, 2.0), 0.5, Verdict.ABOVE, ExitCode.ABOVE),
        ((1.0, 2.0), 1.0, Verdict.UNDECIDED, ExitCode.UNDECIDED),
    ],
)
def test_verdicts(interval, limit, verdict, code):
    """What the interval proves, and nothing more."""
    assert judge(interval, limit) is verdict
    assert verdict.exit_code is code


def test_one_line_without_tricks(capsys):
    """Line breaks and escapes of names do not reach the terminal."""
    tell("a\nb \x1b[31mred")
    err = capsys.readouterr().err
    assert err.startswith("bisimetric: a b ")
    assert "\x1b" not in err
    assert err.count("\n") == 1


def test_quiet_leaves_out_notes_only(capsys):
    """Errors are printed all the same."""
    with quietly(True):
        assert is_quiet()
        note("a note")
        tell("an error")
    assert not is_quiet()
    assert capsys.readouterr().err == "bisimetric: an error\n"


@pytest.mark.parametrize(("seconds", "text"), [(1.5, "1.50 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_durations(seconds, text):
    """In the two largest units."""
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--discount", "1.5"), "--discount is 1.5"),
        (("--discount", "0.9", "--tol", "-1"), "--tol is -1"),
        (("--discount", "0.9", "--time-limit", "-3"), "--time-limit is -3"),
        (("--discount", "0.9", "--max-steps", "0"), "--max-steps is 0"),
        (("--bisimilarity", "--solver", "sinkhorn-value-iteration"), "leave out --solver"),
    ],
)
def test_errors_name_options(words, said, command):
    """In words of the command line, not of Python."""
    ran = command("distance", "four-rooms:p1", "four-rooms:p0", *words)
    assert ran.code == 2
    assert said in ran.err
