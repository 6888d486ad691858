"""How a solve went: the certified interval around the distance, or the gap, against time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.solving.history import Step
from bisimetric.solving.solution import Answer
from bisimetric.views.curves import curves
from bisimetric.views.figures import (
    GRID,
    add_legend,
    axes_or_new,
    figure_of,
    in_range,
    look,
    require_matplotlib,
    set_texts,
)
from bisimetric.views.titles import distance_label, headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONVERGENCE_SIZE = (6.8, 4.0)  # inches
BAND = 0.22  # opacity of an interval
CONVERGENCE_KINDS = ("interval", "gap")

Show = Literal["interval", "gap"]


class Looks(NamedTuple):
    """What the checker has proved by when."""

    seconds: Floats
    distance: Floats
    lower: Floats
    upper: Floats


def convergence(
    solutions: Answer | Mapping[str, Answer],
    *,
    show: Show | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw how one or several solves went: the certified interval around the distance, or the gap, against time.

    Intervals are known at the looks of the checker: `bisimetric.solve(problem, solver, look_every=1)` asks for one in
    every step. The last one is the solution's own.

    Parameters
    ----------
    solutions : Solution or MDPSolution, or mapping from names to those
        What was solved, from `solution.history`.
    show : "interval" or "gap", optional
        The certified interval of the distance between the starts as a band, with the estimate as a line; or the gap
        between the bounds of all pairs, as the solver estimates it, on a logarithmic scale. By default intervals, if
        all models have starts and the checker looked during a solve.
    title : str, optional
        The title; by default the names of the models.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `solutions` holds something else, or intervals are asked for of models without starts.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> problem = bm.Problem(bm.as_chain("four-rooms:p1"), bm.as_chain("four-rooms:p0"), discount=0.95)
    >>> solvers = {"values": bm.ValueIteration(), "policies": bm.PolicyIteration()}
    >>> runs = {name: bm.solve(problem, solver, look_every=1) for name, solver in solvers.items()}
    >>> figure = bm.plot.convergence(runs)
    """
    given = solutions if isinstance(solutions, Mapping) else {"": solutions}
    if not given:
        raise InvalidOption("solutions is empty, expected at least one solution")
    for name, solution in given.items():
        check_kind(solution, f"solutions[{name!r}]" if name else "solutions", Answer, "what bisimetric.solve returns")
    if show is not None and show not in CONVERGENCE_KINDS:
        raise InvalidOption(f"show is {show!r}, expected 'interval' or 'gap'")
    require_matplotlib()
    runs = {str(name) or solution_solver(solution): solution for name, solution in given.items()}
    heading = _title(list(runs.values())) if title is None else title
    started = all(model.start is not None for run in runs.values() for model in run.models)
    if show == "interval" and not started:
        raise InvalidOption("the models have no starts to show an interval for; show='gap', or model.with_start(state)")
    if show == "gap" or not started or (show is None and not any(_has_looks(run) for run in runs.values())):
        return _draw_gaps(runs, heading, ax)
    drawn = axes_or_new(ax, CONVERGENCE_SIZE)
    handles = []
    for k, run in enumerate(runs.values()):
        looks, style = looks_of(run), look(k)
        drawn.fill_between(
            looks.seconds, looks.lower, looks.upper, step="post", color=style.colour, alpha=BAND, linewidth=0
        )
        handles += drawn.plot(
            looks.seconds, looks.distance, color=style.colour, marker=style.marker, markersize=4, linewidth=1.3,
            linestyle=style.dashes, drawstyle="steps-post",
        )  # fmt: skip
    drawn.set_xlim(left=0.0)
    drawn.grid(color=GRID, linewidth=0.6)
    drawn.set_axisbelow(True)
    add_legend(drawn, handles, list(runs))
    label = distance_label(next(iter(runs.values())), "distance between the starts\n")
    set_texts(drawn, title=heading, xlabel="seconds (lines: estimates, bands: certified intervals)", ylabel=label)
    return figure_of(drawn)


def _draw_gaps(runs: Mapping[str, Answer], title: str, ax: Axes | None) -> Figure:
    """Draw the gaps of all steps against time, on a logarithmic scale if there are any to see."""
    if any(not run.history for run in runs.values()):
        raise InvalidOption("a solution has no history to draw, because nothing had to be computed")
    counts = np.cumsum([len(run.history) for run in runs.values()])
    every = np.array([step.gap for run in runs.values() for step in run.history])
    shown, label = in_range(every, "gap between the bounds, as estimated")
    series = {
        name: ([step.seconds for step in run.history], gaps)
        for (name, run), gaps in zip(runs.items(), np.split(shown, counts[:-1]), strict=True)
    }
    positive = all((gaps > 0).any() for _, gaps in series.values())
    return curves(series, xlabel="seconds", ylabel=label, title=title, log=(False, positive), ax=ax)


def solution_solver(solution: Answer) -> str:
    """The name of the solver that made a solution."""
    return str(getattr(solution, "solver", "solve"))


def looks_of(solution: Answer) -> Looks:
    """The looks in the history of a solution, and its own interval as the last."""
    known = [step for step in solution.history if step.interval is not None and step.distance is not None]
    end = max([step.seconds for step in solution.history], default=0.0)
    last = Step(0, 0.0, end, distance=solution.distance, interval=solution.interval)
    rows = [(s.seconds, s.distance, *s.interval) for s in [*known, last] if s.interval is not None]
    return Looks(*np.array(rows, np.float64).T)


def _has_looks(solution: Answer) -> bool:
    return any(step.interval is not None for step in solution.history)


def _title(runs: list[Answer]) -> str:
    """The models, if all solutions are about the same ones."""
    same = all(run.models[0] is runs[0].models[0] and run.models[1] is runs[0].models[1] for run in runs)
    return f"{headline(runs[0])}\nγ = {runs[0].discounting}" if same else "convergence"
