"""From a `Page` to HTML.

A page is fixed text: a frame, fragments and scripts from `assets/`. Its only variable part is JSON in a script element
that browsers do not run, in which every `<` is an escape, so no name can end the element or begin another. A content
security policy lists the hashes of the page's own scripts: nothing else runs, and nothing is loaded from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from bisimetric import __version__
from bisimetric._support.text import printable
from bisimetric.views.report.library import chart_library

PLACE = re.compile("@([A-Z]+)@")  # in the template
KEY = re.compile("[a-z][a-z-]*")
FRAME_SCRIPTS = ("charts.js", "frame.js")  # of every page
VERSIONS = ("numpy", "scipy", "numba", "highspy")
LONGEST_COMMAND = 2000  # characters


@dataclass(frozen=True, slots=True)
class ScriptedSection:
    """A section with elements and scripts of its own; pages with several parts run each script once, in this order."""

    html: str  # file in assets/
    scripts: tuple[str, ...] = ()  # files in assets/

    def fragment(self) -> str:
        """Its place in the page."""
        return asset(self.html)


@dataclass(frozen=True, slots=True)
class PlainSection:
    """A plain section; subclasses add what it shows."""

    key: str  # the id of its element, small letters and hyphens
    title: str

    def __post_init__(self) -> None:
        assert KEY.fullmatch(self.key), self.key

    def fragment(self) -> str:
        """Its place in the page, which `frame.js` fills."""
        wide = " wide" if getattr(self, "wide", False) else ""
        return f'<section class="card{wide}" id="{self.key}-card" aria-labelledby="{self.key}-title"></section>\n'

    def data(self) -> dict[str, Any]:
        """What `frame.js` fills it with."""
        return {name: getattr(self, name) for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())}


@dataclass(frozen=True, slots=True)
class TableSection(PlainSection):
    """A table of texts."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    hint: str = ""
    note: str = ""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class ChartSection(PlainSection):
    """A Vega-Lite chart; without a specification only its texts are shown."""

    spec: Mapping[str, Any] | None
    label: str  # what a screen reader says
    hint: str = ""
    note: str = ""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Headline:
    """The large text of a page and what stands beside it."""

    data: Mapping[str, Any]

    @staticmethod
    def interval(value: float, lower: float, upper: float) -> Headline:
        """A number inside certified bounds."""
        return Headline({"value": value, "lower": lower, "upper": upper})

    @staticmethod
    def words(text: str, note: str) -> Headline:
        """Any text."""
        return Headline({"text": text, "note": note})


@dataclass(frozen=True, slots=True)
class Page:
    """What a report shows; `html` makes the file of it."""

    title: str
    headline: Headline
    meaning: str  # one sentence on what the headline says
    facts: Sequence[Sequence[str]]  # names and texts of the summary
    sections: Sequence[ScriptedSection | PlainSection]
    python: Sequence[str]  # lines that ask the same question
    command: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)  # what the scripts of the parts read


def page_data(page: Page) -> dict[str, Any]:
    """Everything that varies between pages, as numbers, texts, lists and dicts."""
    return {
        "title": page.title,
        "headline": dict(page.headline.data),
        "meaning": page.meaning,
        "facts": page.facts,
        "sections": [section.data() for section in page.sections if isinstance(section, PlainSection)],
        "reproduce": {
            "command": None if page.command is None else printable(page.command, LONGEST_COMMAND),
            "python": "\n".join(["import bisimetric as bm", "", *page.python]),
            "versions": _versions(),
        },
        **page.data,
    }


def html(page: Page) -> str:
    """The whole file."""
    library = f"(() => {{{chart_library()}}})();"
    scripts = [name for section in page.sections if isinstance(section, ScriptedSection) for name in section.scripts]
    own = "\n".join(["'use strict';", *map(asset, dict.fromkeys([*FRAME_SCRIPTS, *scripts])), "begin();"])
    policy = f"script-src 'unsafe-eval' {_hash(library)} {_hash(own)}"  # Vega compiles its expressions
    parts = {
        "POLICY": f"default-src 'none'; {policy}; style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'",
        "STYLE": asset("page.css"),
        "SECTIONS": "".join(section.fragment() for section in page.sections),
        "DATA": inert_json(page_data(page)),
        "LIBRARY": library,
        "SCRIPT": own,
    }
    return PLACE.sub(lambda place: parts[place[1]], asset("page.html"))  # one pass: texts are not looked at again


def inert_json(data: object) -> str:
    """JSON in ASCII without the characters that mean something in HTML."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@lru_cache(maxsize=32)
def asset(name: str) -> str:
    """The text of a file of the page."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _versions() -> list[list[str]]:
    found = {"bisimetric": __version__, "Python": platform.python_version()}
    return [[name, text] for name, text in (found | {name: version(name) for name in VERSIONS}).items()]


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
