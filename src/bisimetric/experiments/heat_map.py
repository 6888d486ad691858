"""The heat map: from the start of a small room to every cell of four rooms.

The first chain is a 3×3 grid with +1 in one corner, the second has four rooms, each of them that grid rotated. The
picture shows the distance from the start of the first to each cell of the second, as if that cell were the start. The
paper's message: the picture has the symmetries of the rooms. Here symmetry is a number: the largest difference between
the values at a cell and at its images under quarter turns.

Paper: Figure 2; its γ is not known, ours is 0.95.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.environments import grid_3x3, matching_four_rooms
from bisimetric.errors import InvalidOption
from bisimetric.experiments.experiment import Experiment, Record, ResultData, Table, Workplace
from bisimetric.experiments.rounds import TRUTH
from bisimetric.models.chain import MarkovChain
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solve import solve

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME = "heat-map"
SYMMETRIC = 1e-9  # largest difference between a cell and its images that counts as equal, relative to the largest value
CHOSEN = ("(0,0)", "(1,1)", "(2,0)", "(1,3)")  # start, centre and goal of the upper left room, and a door


@dataclass(frozen=True, slots=True)
class Config:
    """Settings."""

    discount: float = 0.95


def run(config: Config, workplace: Workplace) -> ResultData:
    """The distances, and how symmetric they are."""
    source, target = grid_3x3(), matching_four_rooms()
    workplace.say("the exact distances")
    solution = solve(Problem(source, target, discount=config.discount), tol=TRUTH)
    assert source.start is not None
    first = int(np.argmax(source.start))
    distances = solution.value[first]
    asymmetry = {f"{90 * turns}°": _asymmetry(target, distances, turns) for turns in (1, 2, 3)}
    return {
        "source": _describe(source),
        "target": _describe(target),
        "start": source.name_of(first),
        "distances": distances.tolist(),
        "relative_gap": solution.relative_gap,
        "asymmetry": asymmetry,
        "symmetric": max(asymmetry.values()) <= SYMMETRIC,
        "nearest": target.name_of(int(distances.argmin())),
    }


def _describe(chain: MarkovChain) -> dict[str, Any]:
    """The parts of a chain that a picture of its map needs."""
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
    rotated = values[[cells.index(cell) for cell in image]]
    return float(np.abs(rotated - values).max() / values.max())


def _cell(name: str) -> tuple[int, int]:
    row, column = name.strip("()").split(",")
    return int(row), int(column)


def draw(record: Record) -> Mapping[str, Figure]:
    """Both maps, and the distances on the second."""
    from bisimetric.views.distances import on_grids

    result = record["result"]
    title = f"3×3 grid against 4-rooms, γ = {record['config']['discount']:g} (not normalised)"
    source, target = (_as_chain(result[which]) for which in ("source", "target"))
    return {NAME: on_grids(source, target, np.array(result["distances"]), title, numbers=True)}


def _as_chain(described: Mapping[str, Any]) -> MarkovChain:
    """A chain with these cells, for a picture; its transitions do not matter."""
    return MarkovChain(np.eye(len(described["names"])), **described)


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


EXPERIMENT = Experiment(NAME, (NAME,), Config(), Config(), run, draw, tables, summary)
