"""The frame: fixed text around inert JSON, sections that are plugged in."""

from __future__ import annotations

import base64
import hashlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric._support.text import printable
from bisimetric.views.report.frame import (
    ChartSection,
    Headline,
    Page,
    ScriptedSection,
    TableSection,
    html,
    inert_json,
    page_data,
)
from bisimetric.views.report.solution import solution_page
from tests.views.report.models import HOSTILE, Elements, data_of, protocols


def own_page(text: str = "plain", **options) -> Page:
    """A new kind of report."""
    spec = {"data": {"values": [{"d": 1, "tip": text}]}, "mark": "bar", "encoding": {"x": {"field": "d"}}}
    sections = [
        ChartSection("null", text, spec, label=text, hint=text),
        TableSection("changed", text, [text, "p"], [[text, "1"]], note=text, wide=True),
    ]
    return Page(
        title=text,
        headline=Headline.interval(2.0, 1.0, 3.0),
        meaning=text,
        facts=[["Resamples", text]],
        sections=sections,
        python=["answer = bm.compare(…)"],
        **options,
    )


def test_a_page_of_plain_sections():
    """Their places stand in the page in order, what they show in its data."""
    text = html(own_page())
    places = re.findall('<section class="(.*?)" id="(.*?)"', text)
    assert places == [("card", "null-card"), ("card wide", "changed-card")]
    first, second = data_of(text)["sections"]
    assert (first["key"], first["title"], first["hint"], first["note"]) == ("null", "plain", "plain", "")
    assert second["rows"] == [["plain", "1"]]
    assert data_of(text)["headline"] == {"value": 2.0, "lower": 1.0, "upper": 3.0}
    assert data_of(text)["reproduce"]["python"].startswith("import bisimetric as bm\n\nanswer = ")


@pytest.mark.parametrize("text", HOSTILE)
def test_all_texts_of_a_page_are_inert(text):
    """In every place that takes one; the elements are those of a plain page."""
    page = html(own_page(text, command=text))
    assert Elements(page).tags == Elements(html(own_page())).tags
    assert text not in page or text.startswith("@")
    assert data_of(page)["sections"][0]["spec"]["data"]["values"][0]["tip"] == text


def test_parts_bring_their_scripts_once_and_data():
    """In the order of the sections, after those of the frame and before the start."""
    part = ScriptedSection("matrix.html", ("matrix.js",))
    page = Page("t", Headline.words("a", "b"), "m", [], [part, part], [], data={"mine": 3})
    text = html(page)
    assert text.count("function matrixSpec(") == 1
    assert text.index("async function begin(") < text.index("function matrixSpec(") < text.index("\nbegin();")
    assert page_data(page)["mine"] == 3
    assert page_data(page)["sections"] == []


@pytest.mark.parametrize("key", ["", "<b>", "A", "a b", 'a"'])
def test_keys_are_identifiers(key):
    """They stand in the page's HTML."""
    with pytest.raises(AssertionError):
        TableSection(key, "t", [], [])


@pytest.fixture(scope="module")
def plain_tags():
    """The elements of a harmless page."""
    return Elements(html(solution_page(protocols()))).tags


@given(names=st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=2, unique=True))
def test_any_name_arrives_as_text(names):
    """The page's JSON holds the names, and nothing but letters of JSON strings comes from them."""
    text = inert_json(names)
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert Elements(f'<script type="application/json" id="data">{text}</script><p>').tags == ["script", "p"]


def test_hostile_names_change_nothing(tmp_path, plain_tags):
    """The page has the same elements as any other, and the names are in its data as `printable` shows them."""
    chain = bm.MarkovChain(np.eye(5)[[1, 2, 3, 4, 0]], reward=np.arange(5), start=0, names=HOSTILE)
    file = tmp_path / "hostile.html"
    bm.distance(chain, chain.with_start(1), discount=0.5).report(file, names=HOSTILE[:2], command=HOSTILE[2])
    text = file.read_text(encoding="utf-8")
    assert Elements(text).tags == plain_tags
    found = data_of(file)
    assert found["models"][0]["names"] == [printable(name) for name in HOSTILE]
    assert found["reproduce"]["command"] == HOSTILE[2]
    assert HOSTILE[0] in found["title"]
    assert "<svg onload" not in text


def test_own_scripts_have_their_hashes_and_nothing_else_may_run():
    """The policy allows the two scripts by content and no source to load from."""
    page = html(solution_page(protocols()))
    policy = re.search('http-equiv="Content-Security-Policy" content="(.*?)"', page)[1]
    scripts = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert not re.search(r'(src|href)="(?!data:|#)', re.sub("<script>.*?</script>", "", page, flags=re.DOTALL))
