"""A report to walk through, as `solution.report` writes it: report.html beside the pages, and a role to link to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import bisimetric as bm

FILE = "report.html"
BEFORE_GALLERY = 100  # the first solve says that it compiles, which does not belong into the output of a tutorial


def link(name: str, source: str, text: str, *place: Any, **given: Any) -> tuple[list[nodes.Node], list[Any]]:
    """A link to the report, from pages that stand beside it."""
    return [nodes.reference(source, text, refuri=FILE)], []


def write_report(app: Sphinx) -> None:
    """The report of the README's first command."""
    if app.builder.format == "html":
        Path(app.outdir).mkdir(parents=True, exist_ok=True)
        bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).report(Path(app.outdir) / FILE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write it first."""
    app.add_role("report", link)
    app.connect("builder-inited", write_report, priority=BEFORE_GALLERY)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
