"""docs/coming-from.md: blocks next to each other print the same, with the packages of the peers (extra `bench`)."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent.parent / "docs" / "coming-from.md").read_text(encoding="utf-8")
CODE = r"(?:(?!```).)*"
PAIRS = re.findall(rf"```(py|python)\n(# (\w+)\n{CODE})```\n```python\n({CODE})```", PAGE, re.DOTALL)
MODULES = {"POT": "ot", "pyotc": "pyotc"}  # of the extra `bench`, which not everybody installs
DIFFERENT = {"hmmlearn"}  # the page says so: its number is a relative entropy


def printed(code: str) -> str:
    """What a block prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "page", "exec"), {"__name__": "page"})
    return out.getvalue()


def test_every_package_has_its_pair():
    """All but OTT, which is not installed."""
    assert {name for _, _, name, _ in PAIRS} == {"POT", "pyotc", "Storm", "hmmlearn"}


@pytest.mark.parametrize(("theirs", "name", "ours"), [pair[1:] for pair in PAIRS], ids=[pair[2] for pair in PAIRS])
def test_both_sides_print_the_same(theirs, name, ours):
    """To the digits that they show."""
    if name in MODULES:
        pytest.importorskip(MODULES[name])
    one, other = printed(theirs), printed(ours)
    assert one.strip()
    assert (one == other) != (name in DIFFERENT)
