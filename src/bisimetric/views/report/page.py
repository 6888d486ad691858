"""From an answer to one HTML file, by the kind of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

from bisimetric.bisimulation.aggregation import Aggregation
from bisimetric.errors import InvalidOption
from bisimetric.estimation.comparison import Comparison
from bisimetric.io.files import checked_path, write_file
from bisimetric.many.table import Distances
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.solution import Solution
from bisimetric.views.report.aggregation import aggregation_page
from bisimetric.views.report.answers import timed_page
from bisimetric.views.report.comparison import comparison_page
from bisimetric.views.report.distances import distances_page
from bisimetric.views.report.frame import Page, html
from bisimetric.views.report.solution import solution_page

REPORTS = (".html", ".htm")
PAGES: dict[type, Callable[..., Page]] = {  # functions of an answer, names=… and command=…
    Solution: solution_page,
    MDPSolution: solution_page,
    HorizonSolution: timed_page,
    AverageSolution: timed_page,
    Distances: distances_page,
    Aggregation: aggregation_page,
    Comparison: comparison_page,
}


def report(answer: object, path: object, *, names: object = None, command: str | None = None) -> None:
    """Write the page of an answer to a file, complete or not at all."""
    place = checked_path(path, REPORTS)
    text = html(page_of(answer, names=names, command=command)).encode()

    def write(file: IO[bytes]) -> None:
        file.write(text)

    write_file(place, write)


def page_of(answer: Any, *, names: object = None, command: str | None = None) -> Page:
    """The page of an answer; raises if its kind has none."""
    if command is not None and not isinstance(command, str):
        raise InvalidOption(f"command is {command!r:.60}, expected a text")
    for kind, make in PAGES.items():
        if isinstance(answer, kind):
            return make(answer, names=names, command=command)
    known = " or ".join(kind.__name__ for kind in PAGES)
    raise InvalidOption(f"solution is a {type(answer).__name__}, expected a {known}, which have something to show")
