"""The heat map: from the start of a small room to every cell of four rooms.

The first chain is a 3×3 grid with +1 in one corner, the second has four rooms, each that grid turned.
Shown is the distance from the start of the first to each cell of the second, as if that were the start. The paper's
message: the picture has the symmetries of the rooms. Here they are numbers: how far the values at a cell and at its
images under the quarter turns are apart.

Paper: Figure 2; its γ is not known, ours is 0.95.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric._chain import MarkovChain, State
from bisimetric._errors import InvalidOption
from bisimetric._problem import Problem
from bisimetric._solve import solve
from bisimetric.environments import grid_3x3, matching_four_rooms
from bisimetric.experiments._experiment import Experiment, Record, Result, Table, Workplace
from bisimetric.experiments._rounds import TRUTH

if TYPE_CHECKING:
    from bisimetric.experiments._experiment import Figure

NAME = "heat-map"
SIZE = (10.0, 3.6)  # inches
SYMMETRIC = 1e-9  # values at a cell and its images may differ by this much, relative to the largest
CHOSEN = ("(0,0)", "(1,1)", "(2,0)", "(1,3)")  # start, centre and goal of the upper left room, and a door


@dataclass(frozen=True, slots=True)
class Config:
    """Settings."""

    discount: float = 0.95


def run(config: Config, workplace: Workplace) -> Result:
    """The distances, and how symmetric they are."""
    source, target = grid_3x3(), matching_four_rooms()
    workplace.say("the exact distances")
    solution = solve(Problem(source, target, discount=config.discount), tol=TRUTH)
    assert source.start is not None
    first = int(np.argmax(source.start))
    distances = solution.value[first]
    asymmetry = {f"{90 * turns}°": _asymmetry(target, distances, turns) for turns in (1, 2, 3)}
    return {
        "source": _described(source),
        "target": _described(target),
        "start": source.name_of(first),
        "distances": distances.tolist(),
        "relative_gap": solution.relative_gap,
        "asymmetry": asymmetry,
        "symmetric": max(asymmetry.values()) <= SYMMETRIC,
        "nearest": target.name_of(int(distances.argmin())),
    }


def _described(chain: MarkovChain) -> dict[str, Any]:
    """What a picture of the map needs."""
    assert chain.reward is not None
    assert chain.start is not None
    return {
        "names": [chain.name_of(state) for state in range(chain.n_states)],
        "reward": chain.reward.tolist(),
        "start": int(np.argmax(chain.start)),
    }


def _asymmetry(chain: MarkovChain, values: Any, turns: int) -> float:
    """The largest difference between a cell and its image under quarter turns, relative to the largest value."""
    cells = [_cell(chain.name_of(state)) for state in range(chain.n_states)]
    last = max(max(cell) for cell in cells)
    image = cells
    for _ in range(turns):
        image = [(column, last - row) for row, column in image]
    if set(image) != set(cells):
        raise InvalidOption("the map is not its own image under quarter turns; take a map that is")
    turned = values[[cells.index(cell) for cell in image]]
    return float(np.abs(turned - values).max() / values.max())


def _cell(name: str) -> tuple[int, int]:
    row, column = name.strip("()").split(",")
    return int(row), int(column)


def draw(record: Record) -> Mapping[str, Figure]:
    """Both maps, and the distances on the second."""
    from bisimetric import plot
    from bisimetric.views.look import new_figure

    result = record["result"]
    figure = new_figure(SIZE)
    left, middle, right = figure.subplots(1, 3, width_ratios=(0.9, 1, 1.25))
    for axes, which, title in ((left, "source", "first chain: 3×3 grid"), (middle, "target", "second chain: 4-rooms")):
        draw_map(axes, result[which], title)
    plot.heat_map(
        _as_chain(result["target"]),
        result["distances"],
        label=f"sum of discounted costs, γ = {record['config']['discount']:g}",
        title="distance from the first chain's start",
        marks=_marks(result["target"]),
        axes=right,
    )
    return {NAME: figure}


def draw_map(axes: Any, described: Mapping[str, Any], title: str) -> None:
    """A map with its rewards and start."""
    from bisimetric.views.look import LITERAL, WALL, set_texts

    cells = [_cell(name) for name in described["names"]]
    free = np.zeros((1 + max(row for row, _ in cells), 1 + max(column for _, column in cells), 3))
    free[:] = float(WALL)
    for row, column in cells:
        free[row, column] = 1.0
    axes.imshow(free)
    for state, text in _marks(described).items():
        row, column = cells[int(state)]
        axes.text(column, row, text, ha="center", va="center", fontsize=11, **LITERAL)
    rows, columns = free.shape[:2]
    axes.set_xticks(np.arange(-0.5, columns), labels=[])
    axes.set_yticks(np.arange(-0.5, rows), labels=[])
    axes.grid(color="0.85", linewidth=0.8)
    axes.tick_params(length=0)
    set_texts(axes, title=title, xlabel="", ylabel="")


def _marks(described: Mapping[str, Any]) -> dict[State, str]:
    """Texts for the start and the rewards."""
    marks: dict[State, str] = {state: f"{paid:+g}" for state, paid in enumerate(described["reward"]) if paid}
    return {described["start"]: "S", **marks}


def _as_chain(described: Mapping[str, Any]) -> MarkovChain:
    """A chain with those cells; a heat map needs no moves."""
    return MarkovChain(np.eye(len(described["names"])), names=described["names"])


def tables(record: Record) -> Sequence[Table]:
    """The distances at chosen cells, and the symmetries."""
    result = record["result"]
    at = dict(zip(result["target"]["names"], result["distances"], strict=True))
    what = ("where the start is in its room", "centre of the room", "reward of the room", "a door")
    body = [[cell, name, f"{at[cell]:.10f}"] for cell, name in zip(CHOSEN, what, strict=True)]
    worst = max(result["asymmetry"].values())
    notes = (
        f"Nearest cell: {result['nearest']}. Under quarter turns values differ by {worst:.1e} of the largest at most.",
    )
    title = f"Heat map: 3×3 grid against 4-rooms, γ = {record['config']['discount']:g}"
    return [Table(title, ["cell", "", "distance from the 3×3's start"], body, notes)]


def summary(record: Record) -> dict[str, Any]:
    """The distance between the starts, the nearest cell and the symmetries."""
    result = record["result"]
    start = result["distances"][result["target"]["start"]]
    return {"distance": start, **{key: result[key] for key in ("nearest", "asymmetry", "symmetric")}}


EXPERIMENT = Experiment(NAME, "Heat map: 3×3 grid against 4-rooms", Config(), Config(), run, draw, tables, summary)
