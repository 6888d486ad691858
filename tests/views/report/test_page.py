"""The file is whole, small, the same every time, and names in it are text."""

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
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.views.report import page as module
from bisimetric.views.report.page import html, inert_json
from tests.views.report.models import HOSTILE, Elements, data_of, decision_process, protocols, random_solution

LARGEST = 6_000_000  # bytes of a report of 100 x 100 states


@pytest.fixture(scope="module")
def plain_tags():
    """The elements of a harmless page."""
    return Elements(html(protocols())).tags


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
    page = html(protocols())
    policy = re.search('http-equiv="Content-Security-Policy" content="(.*?)"', page)[1]
    scripts = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert not re.search(r'(src|href)="(?!data:|#)', re.sub("<script>.*?</script>", "", page, flags=re.DOTALL))


def test_same_solution_same_bytes(tmp_path):
    """As for every file."""
    files = [tmp_path / name for name in ("one.html", "two.html")]
    for file in files:
        protocols().report(file)
    one, two = (data_of(file) for file in files)
    one["history"].pop("seconds"), two["history"].pop("seconds")
    assert one == two
    solution = protocols()
    for file in files:
        solution.report(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_hundred_by_a_hundred_dense_states(tmp_path):
    """The file stays below its limit; pairs that matter keep 95 % of the mass, all others something."""
    solution = random_solution(100, 100, 40, tol=None, max_steps=1)
    file = tmp_path / "dense.html"
    solution.report(file)
    assert file.stat().st_size < LARGEST
    found = data_of(file)
    pairs = found["pairs"]
    masses = np.array([sum(flat[1::2]) for flat in pairs["cells"]])
    assert masses.min() > 0.1
    listed = [number for number, *_ in found["explanation"]["parts"]]
    assert masses[listed].min() >= 0.949
    assert pairs["value"] == solution.value.ravel().tolist()


def test_larger_matrices_are_binned(tmp_path):
    """And stay below the same limit."""
    file = tmp_path / "large.html"
    random_solution(130, 300, 4).report(file)
    assert file.stat().st_size < LARGEST
    assert data_of(file)["matrix"]["binned"]


def test_decision_processes_have_reports(tmp_path):
    """The method is the same."""
    mdp = decision_process()
    bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.8).report(tmp_path / "mdp.html")
    assert data_of(tmp_path / "mdp.html")["actions"]


def test_existing_files_are_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    """A failure leaves the file as it was, and nothing beside it."""
    file = tmp_path / "report.html"
    file.write_text("before")

    def fail(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(module, "payload", fail)
        with pytest.raises(RuntimeError):
            protocols().report(file)
    assert file.read_text() == "before"
    protocols().report(file)
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("path", ["report", "report.pdf", "report.html.gz", 3, None])
def test_other_endings_are_refused(path):
    """Before anything is computed."""
    with pytest.raises(InvalidOption, match="path"):
        protocols().report(path)


def test_places_that_cannot_be_written_to(tmp_path):
    """Named in the error."""
    with pytest.raises(FileFormatError, match="folder"):
        protocols().report(tmp_path / "nowhere" / "report.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(FileFormatError, match="not a file"):
        protocols().report(tmp_path / "folder.html")


@pytest.mark.parametrize("options", [{"names": "ab"}, {"names": ("a",)}, {"names": (1, 2)}, {"command": 3}])
def test_names_and_command_are_texts(tmp_path, options):
    """Anything else is refused."""
    with pytest.raises(InvalidOption, match="expected"):
        protocols().report(tmp_path / "x.html", **options)
