"""One pair of states: how its successors are coupled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.models.chain import State, state_index
from bisimetric.models.rows import Floats
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.solution import Answer
from bisimetric.views.figures import (
    BRIGHT,
    LITERAL,
    LUMINANCE,
    all_shortened,
    axes_or_new,
    colour_image,
    figure_of,
    inert,
    new_figure,
    require_matplotlib,
    set_texts,
    set_title,
    shortened,
    wrapped,
)
from bisimetric.views.ticks import name_ticks
from bisimetric.views.titles import model_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL_SIDE, LEAST_LAW, MOST_LAW = 0.7, 2.1, 5.2  # inches of a cell, and of the whole law
LAW_AROUND = (2.6, 2.4)  # inches beside and below the law for names and marginals
NUMBERED_CELLS = 10  # laws of at most so many rows and columns have numbers in their cells
BAR_COLOUR, BAR_ROOM, BAR_WIDTH = "0.55", 0.8, 0.8  # of the marginals; inches for them and for a colour bar
LONGEST_STATE, LONGEST_MODEL_NAME = 30, 34  # characters of the names of states and models in the title
CELL_TEXT = 8.0  # points


def coupling(
    solution: Answer,
    x: State,
    y: State,
    *,
    names: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the coupling of one pair of states: where the two models go from there together.

    Rows are the successors of `x`, columns those of `y`, and the colour is the probability of both at once. The bars
    are the two marginals: the models' own transition probabilities. In small laws every cell says its probability and
    the distance d between the two successors; the coupling puts mass where d is small.

    Parameters
    ----------
    solution : Solution or MDPSolution
        What `bisimetric.solve`, `distance` or `bisimulation_metric` returned. Between decision processes both take
        their decisive actions.
    x, y : int or str
        The states of the source and of the target, by index or name.
    names : (str, str), optional
        The names of the two models, for the title.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure; the marginals then stand beside the names.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `solution` is not a solution, or its pair of states was not solved.
    InvalidChain
        If a model has no such state.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> figure = bm.plot.coupling(solution, "(1,3)", "(0,4)")
    """
    check_kind(solution, "solution", Answer, "what bisimetric.solve or bisimetric.distance returns")
    require_matplotlib()
    source, target = solution.models
    i, j = (state_index(state, model.n_states, model.names) for state, model in ((x, source), (y, target)))
    law = solution.coupling[i, j]  # type: ignore[index]
    rows, columns = np.unique(law.nonzero()[0]), np.unique(law.nonzero()[1])
    joint = law.toarray()[np.ix_(rows, columns)]
    later = solution.at(1).value if isinstance(solution, HorizonSolution) else solution.value
    apart = later[np.ix_(rows, columns)]
    laws = joint.sum(axis=1), joint.sum(axis=0)
    texts = [[model.name_of(int(k)) for k in states] for model, states in ((source, rows), (target, columns))]
    if ax is None:
        drawn, bar = _panels(joint.shape, laws)
    else:  # no room for bars: the names say the marginals
        drawn, bar = axes_or_new(ax, (LEAST_LAW, LEAST_LAW)), None
        texts = [
            [f"{name}: {mass:.2g}" for name, mass in zip(part, law, strict=True)]
            for part, law in zip(texts, laws, strict=True)
        ]
    image = colour_image(drawn, np.where(joint > 0, joint, np.nan), (-0.5, len(columns) - 0.5, len(rows) - 0.5, -0.5))
    drawn.set_aspect("auto")
    image.set_clim(0.0, float(joint.max()))
    for axis, words in ((drawn.yaxis, texts[0]), (drawn.xaxis, texts[1])):
        name_ticks(axis, words)
    if max(joint.shape) <= NUMBERED_CELLS:
        _write_cells(drawn, joint, apart, image.to_rgba(joint)[:, :, :3] @ LUMINANCE)
    if bar is not None:
        figure_of(drawn).colorbar(image, cax=bar).set_label("probability of both", **LITERAL)
    _write_titles(solution, drawn, (i, j), model_names(solution, names), float((joint * apart).sum(where=joint > 0)))
    return figure_of(drawn)


def _panels(shape: tuple[int, int], laws: tuple[Floats, Floats]) -> tuple[Axes, Axes | None]:
    """Axes for the law in a new figure with both marginals as bars; of a large law also axes for a colour bar."""
    height, width = (min(max(CELL_SIDE * size, LEAST_LAW), MOST_LAW) for size in shape)
    many = max(shape) > NUMBERED_CELLS
    figure = new_figure((width + LAW_AROUND[0] + BAR_WIDTH * many, height + LAW_AROUND[1]))
    ratios = [width, BAR_ROOM, *([BAR_WIDTH / 4] if many else [])]
    panels = figure.add_gridspec(2, len(ratios), width_ratios=ratios, height_ratios=(BAR_ROOM, height))
    law = figure.add_subplot(panels[1, 0])
    above, beside = figure.add_subplot(panels[0, 0], sharex=law), figure.add_subplot(panels[1, 1], sharey=law)
    rows, columns = laws
    above.bar(range(len(columns)), columns, color=BAR_COLOUR, width=0.8)
    beside.barh(range(len(rows)), rows, color=BAR_COLOUR, height=0.8)
    above.tick_params(labelbottom=False, bottom=False)
    beside.tick_params(labelleft=False, left=False)
    above.set(ylim=(0.0, 1.05 * max(columns)), ylabel="probability")
    beside.set(xlim=(0.0, 1.05 * max(rows)), xlabel="probability")
    above.locator_params(axis="y", nbins=2)
    beside.locator_params(axis="x", nbins=2)
    for bars in (above, beside):
        bars.spines[["top", "right"]].set_visible(False)
    return law, figure.add_subplot(panels[1, 2]) if many else None


def _write_titles(solution: Answer, axes: Axes, pair: tuple[int, int], titles: tuple[str, str], mean: float) -> None:
    """Say which states of which models these are, how far apart, and how far their successors on average."""
    mine, theirs = (_state(model.name_of(state)) for model, state in zip(solution.models, pair, strict=True))
    source, target = all_shortened(titles, LONGEST_MODEL_NAME)
    set_texts(axes, title=None, xlabel=f"successor of {theirs}", ylabel=f"successor of {mine}")
    distance = f"distance {solution.value[pair]:.4g}, of the successors {mean:.4g} on average"
    said = f"{mine} of {source}\nwith {theirs} of {target}\n{distance}{_actions(solution, *pair)}"
    figure = figure_of(axes)
    if len(figure.axes) == 1:
        set_title(axes, said)
    else:
        figure.suptitle(wrapped(said, figure.get_figwidth()), fontsize="medium", **LITERAL)


def _state(name: str) -> str:
    return shortened(name, LONGEST_STATE)


def _actions(solution: Answer, i: int, j: int) -> str:
    """The decisive actions between two decision processes, for the title."""
    if not isinstance(solution, MDPSolution):
        return ""
    mine, theirs = (
        mdp.action_name(int(action))
        for mdp, action in zip((solution.problem.source, solution.problem.target), solution.decisive[i, j], strict=True)
    )
    return f"\nboth under {inert(mine)}" if mine == theirs else f"\nunder {inert(mine)} and {inert(theirs)}"


def _write_cells(axes: Axes, joint: Floats, apart: Floats, brightness: Floats) -> None:
    """Write the probability of every cell that has one, and the distance of its states below."""
    for (row, column), mass in np.ndenumerate(joint):
        known = "" if np.isnan(apart[row, column]) else f"\nd {apart[row, column]:.3g}"
        dark = mass > 0 and brightness[row, column] <= BRIGHT
        text = f"{mass:.3g}{known}" if mass > 0 else known.strip()
        colour = "white" if dark else "black" if mass > 0 else "0.5"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=CELL_TEXT, **LITERAL)
