"""Examples do what they say: docstrings, the Python of README and docs, the README's shell."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

import bisimetric
from bisimetric.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
MODULES = [
    name for _, name, _ in pkgutil.walk_packages(bisimetric.__path__, "bisimetric.") if not name.endswith("__main__")
]


def blocks(text: str, language: str) -> list[str]:
    """A page's code blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


PYTHON = [
    pytest.param(code, id=f"{page.name}-{k}")
    for page in PAGES
    for k, code in enumerate(blocks(page.read_text(), "python"))
]


@pytest.mark.parametrize("name", ["bisimetric", *MODULES])
def test_docstring_examples(name: str) -> None:
    """Every example in a docstring gives what it shows."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_docstring_examples() -> None:
    """The test above looks at something."""
    finder = doctest.DocTestFinder()
    examples = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 3


@pytest.mark.parametrize("code", PYTHON)
def test_python_of_pages(
    code: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every Python block of README and docs runs by itself and prints something."""
    monkeypatch.chdir(tmp_path)
    page = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", page)  # dataclasses look for the module they are defined in
    exec(compile(code, "page", "exec"), vars(page))
    assert capsys.readouterr().out


@pytest.mark.parametrize("line", re.findall(r"(?m)^.*(bisimetric distance .*)$", "\n".join(blocks(README, "sh"))))
def test_readme_shell(
    line: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's commands succeed."""
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)[1:]) == 0
    assert "certified" in capsys.readouterr().out


def test_readme_is_short() -> None:
    """The README keeps to its contract: under 150 lines, extras quoted."""
    assert len(README.splitlines()) < 150
    assert not re.search(r'(?<!")\.\[test\]', README)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_whole(page: Path) -> None:
    """Files that a page links to are there, and nothing in it waits to be filled in."""
    text = page.read_text()
    for link in re.findall(r"\]\(([^)#\s]+)\)", text):
        assert "://" in link or (page.parent / link).exists(), link
    assert not re.search(r"@[A-Z0-9]+@|\bT[O]DO\b", text)
