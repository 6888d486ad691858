"""Where a distance comes from, as text for people and as JSON: the largest parts, and the most likely way to part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric.cli.output import columns_table
from bisimetric.couplings.explanation import Explanation
from bisimetric.couplings.parting import JointPath

NAME_COLUMNS = ("source", "target", "source action", "target action", "action")  # that hold names; all others numbers


def explanation_text(explanation: Explanation) -> Iterator[RenderableType]:
    """The table of parts and the table of the way; nothing where the distance is zero."""
    if not explanation.parts:
        return
    yield Text("\nWhere it comes from: pairs of states under the best coupling found", style="bold")
    yield _table(explanation.head(), explanation.rows())
    meaning = f"occupancy is {explanation.occupancy},\n{explanation.formula}"
    yield Text(f"{explanation.remainder()}; {meaning}", style="dim")
    path = explanation.path
    if path is not None and path.parting is not None:
        yield Text("\nThe most likely way to part under that coupling", style="bold")
        yield _table(path.head(), path.rows())
        yield Text(path.summary(), style="dim")


def explanation_document(explanation: Explanation | None) -> dict[str, Any]:
    """The keys of the JSON object that explain a distance."""
    if explanation is None:
        return {"explain": None, "explain_rest": None, "explain_path": None}
    return {
        "explain": [_known(asdict(part)) for part in explanation.parts],
        "explain_rest": explanation.rest,
        "explain_path": None if explanation.path is None else _path_document(explanation.path),
    }


def _path_document(path: JointPath) -> dict[str, Any]:
    numbers = {name: getattr(path, name) for name in ("parting", "probability", "amount", "share", "difference")}
    return {"moments": [_known(asdict(moment)) for moment in path.moments], **numbers}


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that there are; chains have no actions."""
    return {key: value for key, value in fields.items() if value is not None}


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of states with numbers; actions stand in one column if they are the same on both sides."""
    head, lines = list(head), [list(row) for row in rows]
    if "source action" in head:
        at = head.index("source action")
        if all(line[at] == line[at + 1] for line in lines):
            head[at : at + 2] = ["action"]
            for line in lines:
                del line[at]
    table = columns_table()
    for name in head:
        if name in NAME_COLUMNS:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    return table
