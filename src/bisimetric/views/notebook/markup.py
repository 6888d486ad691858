"""Blocks of what a notebook shows, and their HTML.

Colours are shades of one hue over the page's own background, and all else takes the page's colours, so the same HTML
works in light and in dark notebooks. There are no scripts, no style sheets and no names that could meet those of the
page. Text is escaped here and nowhere else. A thumbnail is a PNG of a pixel per cell, about a kilobyte, where coloured
cells of HTML would make every output of a notebook larger by a hundred.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from bisimetric._support.text import printable
from bisimetric.models.rows import Floats

MOST_SIDE = 96  # cells of a thumbnail in each direction
MOST_NUMBERS = 8  # rows and columns up to which a matrix is shown with its numbers
FILLED_PIXELS = 192  # pixels of a thumbnail that are filled, if its cells are few
HUE = (31, 119, 180)  # red, green, blue
DARKEST = 0.7  # opacity of the largest number: text on it is readable in the light and in the dark
MARKED_ROW = "rgba(31,119,180,0.25)"
TABLE = "border-collapse:collapse;margin:0.2em 0;font-size:90%"
HEAD_CELL = "text-align:left;padding:0.15em 0.8em 0.15em 0;font-weight:600;background:none"
BODY_CELL = "text-align:{};padding:0.15em 0.8em 0.15em 0;background:none"
FAINT = "opacity:0.75;margin:0.2em 0;font-size:90%"


class Title(NamedTuple):
    """What the object is."""

    text: str


class Facts(NamedTuple):
    """Names and facts in two columns."""

    rows: Sequence[tuple[str, str]]


class Listing(NamedTuple):
    """A table with a head; columns whose cells are all numbers are aligned to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: int | None = None  # a row that stands out


class Note(NamedTuple):
    """A line of text."""

    text: str


class Matrix(NamedTuple):
    """A matrix in colours: with its numbers if it is small, else as a thumbnail."""

    values: Floats  # not negative, NaN where unknown
    row_name: Callable[[int], str]
    column_name: Callable[[int], str]
    what: str  # the numbers are, for those who cannot see them


HtmlBlock = Title | Facts | Listing | Note | Matrix


def as_html(blocks: Iterable[HtmlBlock]) -> str:
    """The blocks one below the other."""
    return '<div style="overflow-x:auto">' + "".join(_RENDERED[type(block)](block) for block in blocks) + "</div>"


def text(words: object) -> str:
    """Any text as inert HTML, with control characters escaped."""
    return escape(printable(str(words), None))


def _title(block: Title) -> str:
    return f'<div style="font-weight:600">{text(block.text)}</div>'


def _note(block: Note) -> str:
    return f'<p style="{FAINT}">{text(block.text)}</p>'


def _facts(block: Facts) -> str:
    cell = BODY_CELL.format("left")
    rows = (
        f'<tr style="background:none"><th scope="row" style="{HEAD_CELL}">{text(name)}</th>'
        f'<td style="{cell}">{text(fact)}</td></tr>'
        for name, fact in block.rows
    )
    return f'<table style="{TABLE}">{"".join(rows)}</table>'


def _listing(block: Listing) -> str:
    sides = ["right" if _all_numbers(column) else "left" for column in zip(*block.rows, strict=True)]
    cells = [BODY_CELL.format(side) for side in sides or ["left"] * len(block.head)]
    head = "".join(
        f'<th scope="col" style="{HEAD_CELL.replace("left", side)}">{text(name)}</th>'
        for name, side in zip(block.head, sides or ["left"] * len(block.head), strict=True)
    )
    body = "".join(
        f'<tr style="background:{MARKED_ROW if k == block.marked else "none"}">'
        + "".join(f'<td style="{cell}">{text(word)}</td>' for word, cell in zip(row, cells, strict=True))
        + "</tr>"
        for k, row in enumerate(block.rows)
    )
    return f'<table style="{TABLE}"><thead><tr style="background:none">{head}</tr></thead><tbody>{body}</tbody></table>'


def _all_numbers(column: Sequence[str]) -> bool:
    return all(word in ("", "…") or _is_number(word) for word in column)


def _is_number(word: str) -> bool:
    try:
        float(word.removesuffix("%"))
    except ValueError:
        return False
    return True


def _matrix(block: Matrix) -> str:
    n, m = block.values.shape
    return _with_numbers(block) if n <= MOST_NUMBERS and m <= MOST_NUMBERS else _thumbnail(block)


def _with_numbers(block: Matrix) -> str:
    shades = _shades(block.values)
    names = [text(printable(block.column_name(j))) for j in range(block.values.shape[1])]
    head = "".join(f'<th scope="col" style="{HEAD_CELL}">{name}</th>' for name in names)
    body = ""
    for i, (row, shade_row) in enumerate(zip(block.values, shades, strict=True)):
        name = text(printable(block.row_name(i)))
        body += f'<tr style="background:none"><th scope="row" style="{HEAD_CELL}">{name}</th>'
        for number, shade in zip(row.tolist(), shade_row.tolist(), strict=True):
            colour = f"rgba({','.join(map(str, HUE))},{shade:.2f})"
            body += f'<td style="text-align:right;padding:0.15em 0.5em;background:{colour}">{_number(number)}</td>'
        body += "</tr>"
    table = f'<table style="{TABLE}"><tr style="background:none"><td></td>{head}</tr>{body}</table>'
    return table + _note(Note(block.what))


def _thumbnail(block: Matrix) -> str:
    """A picture with one pixel per cell; of larger matrices one per block of cells, for their mean."""
    size = tuple(-(-side // MOST_SIDE) for side in block.values.shape)
    places = [np.arange(0, side, step) for side, step in zip(block.values.shape, size, strict=True)]
    means = np.array([[_mean(block.values[i : i + size[0], j : j + size[1]]) for j in places[1]] for i in places[0]])
    scale = max(1, FILLED_PIXELS // max(means.shape))
    height, width = (scale * side for side in means.shape)
    said = f"{block.what}; largest {_number(float(np.fmax.reduce(means, axis=None)))}"
    said += "" if size == (1, 1) else ", means over blocks of {} x {}".format(*size)
    return (
        f'<img alt="{text(said)}" src="data:image/png;base64,{b64encode(_png(_shades(means))).decode()}" '
        f'width="{width}" height="{height}" style="image-rendering:pixelated;border:1px solid rgba(128,128,128,0.6);'
        f'display:block;margin:0.4em 0">{_note(Note(said))}'
    )


def _png(shades: Floats) -> bytes:
    """A picture in one hue whose opacities are these."""
    height, width = shades.shape
    pixels = np.empty((height, width, 4), np.uint8)
    pixels[..., :3], pixels[..., 3] = HUE, np.rint(shades * 255)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)  # 8 bits for each of red, green, blue, opacity
    data = zlib.compress(lines.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _mean(part: Floats) -> float:
    known = part[~np.isnan(part)]
    return float((known / known.size).sum()) if known.size else float("nan")


def _shades(values: Floats) -> Floats:
    """Opacities from 0 for zero to the darkest for the largest number; infinite ones count as the largest."""
    finite = values[np.isfinite(values)]
    largest = float(finite.max(initial=0.0)) or 1.0
    shades: Floats = np.nan_to_num(np.minimum(values / largest, 1.0)) * DARKEST
    return shades


def _number(number: float) -> str:
    return "" if number != number else f"{number:.4g}"


_RENDERED: dict[type, Callable[..., str]] = {
    Title: _title,
    Facts: _facts,
    Listing: _listing,
    Note: _note,
    Matrix: _matrix,
}
