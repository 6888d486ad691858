"""A report to walk through, as `solution.report` writes it: report.html beside the pages."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import bisimetric as bm


def write_report(app: Sphinx, failure: Exception | None) -> None:
    """The report of the README's first command."""
    if failure is None and app.builder.format == "html":
        solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
        solution.report(Path(app.outdir) / "report.html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write it when the pages are there."""
    app.connect("build-finished", write_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
