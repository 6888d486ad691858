"""The page of a comparison."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric.views.report.comparison import comparison_page
from tests.estimation.logs import comparison


def test_the_page_says_what_the_comparison_says():
    """The sentence, the three statements, the transitions that changed."""
    found = comparison("changed")
    page = comparison_page(found, names=("before", "after"))
    assert page.title == "before and after"
    assert page.meaning == found.sentence
    sections = {section.key: section for section in page.sections}
    assert list(sections) == ["null", "changed", "statements", "transitions", "states"]
    assert [row[0] for row in sections["statements"].rows] == ["Computation", "Bootstrap", "Guarantee"]
    assert sections["transitions"].rows[0][0].startswith("product → ")
    assert sum(bar["n"] for bar in sections["null"].spec["layer"][0]["data"]["values"]) == len(found.null)
    assert len(sections["changed"].spec["data"]["values"]) == len(found.changed.significant())


def test_without_a_change_there_is_no_chart():
    """A sentence stands there instead."""
    sections = {section.key: section for section in comparison_page(comparison()).sections}
    assert sections["changed"].spec is None
    assert "beyond chance" in sections["changed"].note


def test_a_report_is_one_file(tmp_path):
    """The same comparison gives the same bytes."""
    found = comparison("changed")
    found.report(tmp_path / "one.html", names=("before", "after"))
    found.report(tmp_path / "two.html", names=("before", "after"))
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert b"product" in (tmp_path / "one.html").read_bytes()
    with pytest.raises(bm.errors.InvalidOption, match="names"):
        found.report(tmp_path / "three.html", names=("one",))
