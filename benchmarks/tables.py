"""Rows of results as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Row = dict[str, Any]


class Table(NamedTuple):
    """A table of texts, with a title above and notes below."""

    title: str
    head: Sequence[str]
    body: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """Aligned columns, the first to the left."""
        lines = [self.head, *self.body]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.head))]
        rows = ("  ".join(_padded(line, widths)).rstrip() for line in lines)
        return "\n".join([self.title, "", *rows, *(f"  {note}" for note in self.notes)])

    def markdown(self) -> str:
        """A table for a README or a page of documentation."""
        ruler = ["---", *["---:"] * (len(self.head) - 1)]
        rows = (f"| {' | '.join(line)} |" for line in [self.head, ruler, *self.body])
        notes = [f"{note}  " for note in self.notes]
        return "\n".join([f"**{self.title}**", "", *rows, *([""] if notes else []), *notes])


def _padded(line: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    return (
        text.rjust(width) if k else text.ljust(width) for k, (text, width) in enumerate(zip(line, widths, strict=True))
    )


def plain(title: str, rows: Sequence[Row]) -> Table:
    """A table of rows that have the same keys."""
    return Table(title, list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2g}" if abs(value) < 1e-3 else f"{value:.4g}"
    return str(value)


def digits(value: float, significant: int = 2) -> str:
    """A number with few significant digits and no exponent."""
    return f"{value:.{significant}g}" if value < 10**significant else f"{value:.0f}"
