"""Names in CSV cells are inert, and come back as they were."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bisimetric.io.csv_cells import FORMULAS, inert_cell, original_name

NAMES = st.text(alphabet=st.one_of(st.sampled_from("'=+-@\\xtnru01ab \t\r\n\"; ,\x1b\ud800\u2028"), st.characters()))


@given(name=NAMES)
@example(name="'=1")
@example(name="''=1")
@example(name="\t=1")
@example(name="'\\x1b")
@example(name="'\\U00110000")
@example(name="'" * 5000)
def test_names_come_back(name):
    """Through a CSV file."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC).writerow([inert_cell(name)])
    ((cell,),) = csv.reader(io.StringIO(text.getvalue(), newline=""))
    assert original_name(cell) == name
    assert cell.isprintable()
    assert not cell.lstrip().startswith(FORMULAS)


@pytest.mark.parametrize("name", ["=1", "+1", "-1", "@x", " =1", "\t=1", "\r=1", "\n@x", "a\x1b[0m", "-1.5"])
def test_marked_as_text(name):
    """By an apostrophe."""
    assert inert_cell(name).startswith("'")


@pytest.mark.parametrize("name", ["plain", "a=b", "", "C:\\new\\x64.json", "'tis", "a - b", "\u05e9"])
def test_other_names_stay(name):
    """As they are, in both directions, also in files of others."""
    assert inert_cell(name) == name
    assert original_name(name) == name
