"""Docstrings are plain text with numpydoc sections; this makes reStructuredText of them, as napoleon reads it.

Characters that are markup elsewhere (`V*`, `|r - r'|`, `x_`) are text in our docstrings, indented lines are formulas.
Text in backticks, examples and the headings of sections stay as they are. Attributes that share a line get one each.
Signatures with private arguments are left out: such objects are made by the package, not by its users. So are members
that come from other packages.
"""

from __future__ import annotations

import enum
import re
from itertools import pairwise
from typing import Any

from sphinx.application import Sphinx

QUOTED = re.compile(r"(`+[^`]+`+)")
MARKUP = re.compile(r"([*|\\]|_(?=\W|$))")
BEFORE_NAPOLEON = 100  # its own handler has the default priority, 500


def escaped(line: str) -> str:
    """A line of text whose markup characters are text."""
    parts = QUOTED.split(line)
    return "".join(part if k % 2 else MARKUP.sub(r"\\\1", part) for k, part in enumerate(parts))


def headings(lines: list[str]) -> dict[int, str]:
    """The sections of a docstring, by the line of their heading."""
    return {k: line for k, (line, below) in enumerate(pairwise(lines)) if line and below == "-" * len(line)}


def with_one_attribute_each(lines: list[str]) -> list[str]:
    """The lines of a docstring in which `value, lower : [n, m]` has become two attributes with one text."""
    found: list[str] = []
    sections, section, k = headings(lines), "", 0
    while k < len(lines):
        section = sections.get(k, section)
        names, colon, kind = lines[k].partition(" : ")
        if section == "Attributes" and "," in names and colon and not names.startswith(" "):
            end = k + 1
            while end < len(lines) and (lines[end].startswith(" ") or not lines[end]):
                end += 1
            for name in names.split(","):
                found += [f"{name.strip()} : {kind}", *lines[k + 1 : end]]
            k = end
        else:
            found.append(lines[k])
            k += 1
    return found


def converted(lines: list[str]) -> list[str]:
    """The docstring as reStructuredText with numpydoc sections."""
    lines = with_one_attribute_each(lines)
    first_heading = min(headings(lines), default=len(lines))
    found: list[str] = []
    in_example = in_formula = False
    for k, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if k < first_heading and not in_example and line.startswith("    "):
            found += [] if in_formula else ["", "::", ""]
            in_formula = True
            found.append(line)
        else:
            in_formula = in_formula and not line
            found.append(line if in_example or set(line.strip()) == {"-"} else escaped(line))
    return found


def on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Change the docstring in place, as autodoc expects."""
    if isinstance(thing, type) and issubclass(thing, enum.Enum):
        lines += [text for member in thing for text in ("", member.name, f"    {member.value}")]
    described = what in {"attribute", "property", "data"}  # napoleon takes words before a colon for a type there
    lines[:] = [""] * described + converted(lines)


def on_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """No signature where users do not call."""
    private = signature is not None and re.search(r"[(,]\s*_", signature)
    listed = isinstance(thing, type) and issubclass(thing, enum.Enum)
    return ("", None) if private or listed else (signature, returns)


def on_member(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from other packages, and fields of tuples; None leaves the decision to others."""
    if type(thing).__name__ == "_tuplegetter":  # the docstring of the class describes it
        return True
    home = getattr(getattr(thing, "fget", None) or thing, "__module__", None)
    return True if isinstance(home, str) and not home.startswith("bisimetric") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every docstring before napoleon does."""
    app.connect("autodoc-process-docstring", on_docstring, priority=BEFORE_NAPOLEON)
    app.connect("autodoc-process-signature", on_signature)
    app.connect("autodoc-skip-member", on_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
