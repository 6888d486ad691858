"""Digits, names, durations, verdicts and the progress line."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric._support.text import printable
from bisimetric.cli.messages import Verdict, digits, duration, judge
from bisimetric.cli.progress import Progress

positive = st.floats(min_value=0.0, max_value=1e300, allow_subnormal=True)


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ((0.43558176511, 0.4355817622, 0.4355817653), ("0.4355817651", "0.4355817622", "0.4355817653")),
        ((0.436, 0.4, 0.47), ("0.436", "0.400", "0.470")),
        ((0.0, 0.0, 0.0), ("0", "0", "0")),
        ((0.1, 0.1, 0.1), ("0.1", "0.1", "0.1")),
        ((2.0, 2.0, 2.0), ("2", "2", "2")),
        ((0.0, 0.0, 3.21e-9), ("0", "0", "3.3e-9")),
        ((1234.5678, 1234.0, 1235.0), ("1234.57", "1234.00", "1235.00")),
        ((1.5e-200, 1.4321e-200, 1.6789e-200), ("1.50e-200", "1.43e-200", "1.68e-200")),
    ],
)
def test_digits(numbers, texts):
    """Numbers have the digits that the interval proves, and a few more."""
    assert digits(*numbers) == texts


@given(st.tuples(positive, positive, positive).map(sorted))
def test_printed_bounds_are_rounded_outwards(numbers):
    """Whatever the sizes, the bounds hold as printed, and the value stays between them."""
    lower, value, upper = numbers
    shown = digits(value, lower, upper)
    if lower == upper:
        assert float(shown.value) == value
        return
    assert Fraction(shown.lower) <= Fraction(lower)
    assert Fraction(shown.upper) >= Fraction(upper)
    assert Fraction(shown.lower) <= Fraction(shown.value) <= Fraction(shown.upper)
    assert len(shown.upper) <= 25


@given(st.text())
def test_printable(text):
    """The result is visible text; text that is visible already is unchanged."""
    shown = printable(text, 10_000)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()


def test_printable_is_bounded():
    """Very long names are cut."""
    assert printable("x" * 1_000_000) == "x" * 59 + "…"


def test_duration():
    """Seconds, minutes, hours."""
    assert [duration(s) for s in (0.123, 59.994, 61, 3725)] == ["0.12 s", "59.99 s", "1 min 1 s", "1 h 2 min"]


def test_judge():
    """The verdict is what the interval proves."""
    assert judge((0.1, 0.2), 0.2) is Verdict.WITHIN
    assert judge((0.1, 0.2), 0.05) is Verdict.ABOVE
    assert judge((0.1, 0.2), 0.1) is Verdict.UNDECIDED
    assert [verdict.exit_code for verdict in Verdict] == [0, 1, 3]


def test_progress_line():
    """Phase, step, gap, seconds; an unknown gap is left out."""
    progress = Progress()
    progress.doing("solving")
    assert progress.line() == "solving, 0 s"
    progress.stepped(3, 0.0123, None)
    assert progress.line() == "solving, step 3, gap 1e-02, 0 s"
    progress.stepped(4, math.inf, None)
    assert progress.line() == "solving, step 4, 0 s"


def test_no_progress_when_piped(monkeypatch, capsys):
    """Nothing is printed if stderr is not a terminal."""
    monkeypatch.setattr("bisimetric.cli.progress.DELAY", 0.0)
    with Progress() as progress:
        progress.doing("solving")
    assert capsys.readouterr() == ("", "")
