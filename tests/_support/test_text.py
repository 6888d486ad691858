"""Names that do nothing but show themselves, and discounts that are not one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric._support.text import discount_text, printable


@given(st.text())
def test_printable(text):
    """Nothing invisible is left, visible text is as it was, and doing it twice changes nothing."""
    shown = printable(text, None)
    assert shown.isprintable()
    assert not text.isprintable() or shown == text
    assert printable(shown, None) == shown
    assert printable(text) == printable(text)[: 60 * 10]


@given(st.floats(0, 1, exclude_max=True))
def test_only_one_reads_one(discount):
    """Also the largest float below it."""
    assert discount_text(discount) != "1"
    assert eval(discount_text(discount)) == pytest.approx(discount, rel=1e-5, abs=1e-300)


@pytest.mark.parametrize(
    ("discount", "text"),
    [
        (0.95, "0.95"),
        (0.99999, "0.99999"),
        (1 - 1e-6, "1-1e-06"),
        (1 - 1e-8, "1-1e-08"),
        (math.nextafter(1, 0), "1-1.11022e-16"),
        (1.0, "1"),
        (1 + 1e-9, "1+1e-09"),
        (0.0, "0"),
        (1.5, "1.5"),
    ],
)
def test_discounts(discount, text):
    """Six digits, or the difference from one."""
    assert discount_text(discount) == text
