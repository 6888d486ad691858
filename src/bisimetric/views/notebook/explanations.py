"""Explanations and matchings in notebooks: the tables that they print, with the parting marked."""

from __future__ import annotations

from collections.abc import Iterator

from bisimetric.couplings.explanation import Explanation
from bisimetric.couplings.parting import JointPath
from bisimetric.solving.assignment import Assignment
from bisimetric.views.notebook.markup import HtmlBlock, Listing, Note, Title


def explanation_blocks(explanation: Explanation) -> Iterator[HtmlBlock]:
    """The largest parts, and the most likely way to part."""
    yield Title("Where the distance comes from")
    yield Listing(explanation.head(), explanation.rows())
    yield Note(explanation.summary())
    if explanation.path is not None:
        yield from path_blocks(explanation.path)


def path_blocks(path: JointPath) -> Iterator[HtmlBlock]:
    """The way, step by step."""
    yield Title("The most likely way to part")
    rows = path.rows()
    at = [k for k, row in enumerate(rows) if row[0] == str(path.parting)]
    yield Listing(path.head(), rows, marked=at[0] if at else None)
    yield Note(path.summary())


def assignment_blocks(matching: Assignment) -> Iterator[HtmlBlock]:
    """The matched pairs."""
    yield Title("States matched one-to-one")
    yield Listing(matching.head(), matching.rows())
    yield Note(matching.summary())
