"""The sources of the documentation site are complete: pages, reference, gallery. `tests/test_site.py` builds it."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import bisimetric as bm

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def module(path: Path) -> ModuleType:
    """A file of docs as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def public_names() -> dict[str, object]:
    """Every public thing by the first name that users see it under, with the module that the reference lists it in."""
    found = {f"bisimetric.{name}": getattr(bm, name) for name in bm.__all__ if name not in {"__version__", *bm.MODULES}}
    for name in bm.MODULES:
        inside = getattr(bm, name)
        found |= {f"bisimetric.{name}.{inner}": getattr(inside, inner) for inner in inside.__all__}
    first = {id(thing): name for name, thing in reversed(found.items())}
    return {name: thing for name, thing in found.items() if first[id(thing)] == name}


def listed_names() -> list[str]:
    """Every name that the reference lists."""
    found, inside = [], ""
    for line in (DOCS / "api.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            inside = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            found.append(f"{inside}.{line.strip()}")
    return found


def toctrees() -> list[str]:
    """Every page that a page of Markdown has in its table of contents."""
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    trees = [tree for page in pages for tree in re.findall(r"```{toctree}\n(.*?)```", page, re.DOTALL)]
    return [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]


def test_the_reference_lists_every_public_name_once():
    """A new public name gets a line in docs/api.md."""
    listed = listed_names()
    assert len(listed) == len(set(listed))
    assert set(listed) == set(public_names())


def test_every_page_has_its_place():
    """A new page gets a line in the table of contents of docs/guide.md or docs/background.md."""
    found = toctrees()
    assert len(found) == len(set(found))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} == {name for name in found if "/" not in name}


def test_every_picture_is_in_the_gallery():
    """Each function of `bm.plot` that returns a figure is called in examples/pictures."""
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "pictures").glob("*.py"))
    drawing = [
        name
        for name in bm.plot.__all__
        if inspect.isfunction(thing := getattr(bm.plot, name))
        and "Figure" in str(inspect.signature(thing).return_annotation)
    ]
    assert len(drawing) >= 5
    assert [name for name in drawing if not re.search(rf"bm\.plot\.{name}\(", scripts)] == []


def test_docstrings_become_markup_that_says_the_same():
    """Markup characters are text, formulas are blocks, examples and quoted text stay."""
    plain = module(DOCS / "_extensions" / "plain_docstrings.py")
    docstring = [
        "Bounds on V*, with |r - r'| and `a*b`.",
        "",
        "    V* = c + |x|",
        "",
        "Attributes",
        "----------",
        "lower, upper : array",
        "    The ends.",
        "",
        "Examples",
        "--------",
        ">>> 2 * 3",
        "6",
    ]
    assert plain.converted(docstring) == [
        "Bounds on V\\*, with \\|r - r'\\| and `a*b`.",
        "",
        "",
        "::",
        "",
        "    V* = c + |x|",
        "",
        "Attributes",
        "----------",
        "lower : array",
        "    The ends.",
        "",
        "upper : array",
        "    The ends.",
        "",
        "Examples",
        "--------",
        ">>> 2 * 3",
        "6",
    ]


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ('<a href="two.html">', 0),
        ('<a href="two.html#there">', 0),
        ('<a href="#here"><p id="here">', 0),
        ('<a href="https://example.org/x"><link rel="canonical" href="https://example.org">', 0),
        ('<a href="three.html">', 1),
        ('<a href="two.html#nowhere">', 1),
        ('<img src="images/none.png">', 1),
        ('<script src="https://example.org/x.js"></script>', 1),
        ('<link rel="stylesheet" href="//example.org/x.css">', 1),
    ],
)
def test_broken_links_are_found(page, wrong, tmp_path, monkeypatch, capsys):
    """Files and anchors that are not there, and what would be loaded from a network."""
    links = module(DOCS / "check_links.py")
    (tmp_path / "index.html").write_text(page)
    (tmp_path / "two.html").write_text('<h1 id="there">Two</h1>')
    assert len(links.broken(tmp_path)) == wrong
    monkeypatch.setattr(sys, "argv", ["check_links.py", str(tmp_path)])
    assert links.main() == wrong
    assert capsys.readouterr().out
