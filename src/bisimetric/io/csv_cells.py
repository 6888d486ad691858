r"""Names in cells of CSV files.

Names are data. A spreadsheet would calculate a cell that begins with = + - @, even a quoted one, so such a name is
written with an apostrophe before it, which spreadsheets take for "this is text". The same mark stands before a name
with characters that are not plainly visible, which are written as escapes: `\t`, `\x1b`. `original_name` undoes what
`inert_cell` does, and leaves cells without the mark as they are. So that it can, names that look marked are marked too.
"""

from __future__ import annotations

import re

from bisimetric._support.text import escaped

FORMULAS = ("=", "+", "-", "@")  # first characters of a cell that spreadsheets calculate
TEXT_MARK = "'"
ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([tnr\\]))")
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def inert_cell(name: str) -> str:
    """The name as text that no spreadsheet takes for a formula, and no terminal for a command."""
    if name.isprintable() and not _is_formula(name) and not _is_marked(name):
        return name
    return TEXT_MARK + "".join(_escaped(char) for char in name)


def original_name(cell: str) -> str:
    """The name that `inert_cell` made this cell of."""
    return ESCAPE.sub(_unescaped, cell[len(TEXT_MARK) :]) if _is_marked(cell) else cell


def _is_formula(text: str) -> bool:
    return text.lstrip(TEXT_MARK).lstrip().startswith(FORMULAS)


def _is_marked(cell: str) -> bool:
    return cell.startswith(TEXT_MARK) and (_is_formula(cell) or "\\" in cell)


def _escaped(char: str) -> str:
    return char if char.isprintable() and char != "\\" else escaped(char)


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    return ESCAPED[match[4]] if digits is None else chr(min(int(digits, 16), 0x10FFFF))
