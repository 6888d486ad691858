"""The two models as drawings: places of the states and the moves between them.

States named "(row,column)" stand on their map, a few others beside it. Other models are graphs, laid out by
networkx. Models whose states have the same names share one layout, so that the same state is at the same place in both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.text import printable
from bisimetric.errors import MissingExtra
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats
from bisimetric.views.grid_cells import cells_of
from bisimetric.views.report.marks import state_marks

MOST_GRAPH_STATES = 450  # a larger graph is not drawn: nothing could be told apart
MOST_MAP_STATES = 4000
MOST_MOVES = 2000  # moves that are drawn
LAYOUT_ROUNDS = 300  # at most, and fewer for many states:
LAYOUT_WORK = 30_000  # rounds times states
LAYOUT_SEED = 0
NAME_BUDGET = 400_000  # characters of all names of a model; with more, states go by their index
PLACE_DIGITS = 4


def drawings(models: tuple[Model, Model]) -> list[dict[str, Any]]:
    """What the page shows of the source and of the target."""
    moves = [mean_moves(model) for model in models]
    places = _places(models, moves)
    return [_drawing(*parts) for parts in zip(models, moves, places, strict=True)]


def drawing(model: Model, *, on_map: bool = True) -> dict[str, Any]:
    """What the page shows of one model; as a graph, where a map is not wanted."""
    moves = mean_moves(model)
    places = (_on_map(model) if on_map else None) or _as_graph(moves)
    return _drawing(model, moves, places)


def shown_names(model: Model) -> list[str] | None:
    """The names of the states as text without control characters; None where indices do or names are too long."""
    if model.names is None or sum(map(len, model.names)) > NAME_BUDGET:
        return None
    return [printable(name) for name in model.names]


def mean_moves(model: Model) -> sparse.csr_array:
    """Probabilities [n, n]; of a decision process their mean over the available actions."""
    if not isinstance(model, MDP):
        return model.transitions
    weight = model.available / model.available.sum(axis=1, keepdims=True)
    mean = sum(sparse.diags_array(weight[:, a]) @ matrix for a, matrix in enumerate(model.transitions))
    return sparse.csr_array(mean)


def _drawing(model: Model, moves: sparse.csr_array, places: _Places) -> dict[str, Any]:
    notes = [places.note] if places.note else []
    names = shown_names(model)
    if names is None and model.names is not None:
        notes.append("The names are too long for this file; states go by their index.")
    start = [] if model.start is None else [(x, model.start[x]) for x in np.flatnonzero(model.start)]
    drawn: dict[str, Any] = {
        "states": model.n_states,
        "names": names,
        "start": [[int(x), float(p)] for x, p in start],
        "notes": notes,
        "map": places.beside is not None,
        "beside": places.beside or [],
        "x": None,
        **state_marks(model),
    }
    if places.at is None:
        return drawn
    rows, columns, weight, left_out = _likely_moves(moves)
    if left_out:
        notes.append(f"The {len(rows)} most likely moves are drawn, {left_out} others are not.")
    if isinstance(model, MDP):
        notes.append("Moves are the mean over the available actions.")
    x, y = np.round(places.at.T, PLACE_DIGITS).tolist()
    stay = np.round(moves.diagonal(), PLACE_DIGITS).tolist()
    likely = [rows.tolist(), columns.tolist(), np.round(weight, PLACE_DIGITS).tolist()]
    if drawn["key"]:
        notes.append(drawn["key"])
    return drawn | {"x": x, "y": y, "moves": likely, "stay": stay}


def _likely_moves(moves: sparse.csr_array) -> tuple[Any, Any, Floats, int]:
    """Moves to other states, from every state its likeliest ones first; and how many are left out."""
    cells = moves.tocoo()
    apart = cells.row != cells.col
    rows, columns, weight = cells.row[apart], cells.col[apart], cells.data[apart]
    order = np.lexsort((-weight, rows))
    first = np.searchsorted(rows[order], rows[order])  # where the moves of the same state begin
    rank = np.arange(len(order)) - first
    chosen = order[np.lexsort((-weight[order], rank))[:MOST_MOVES]]
    return rows[chosen], columns[chosen], weight[chosen], len(order) - len(chosen)


class _Places(NamedTuple):
    """Where states are drawn."""

    at: Floats | None  # [n, 2], in cells of a map or in units of the whole picture; None if they are not drawn
    beside: list[int] | None = None  # states beside a map; None for a graph
    note: str = ""


def _places(models: tuple[Model, Model], moves: list[sparse.csr_array]) -> list[_Places]:
    source, target = models
    maps = [_on_map(model) for model in models]
    if maps[0] is None and maps[1] is None and source.names is not None and source.names == target.names:
        return [_as_graph(moves[0] + moves[1])] * 2
    return [found if found is not None else _as_graph(move) for found, move in zip(maps, moves, strict=True)]


def _on_map(model: Model) -> _Places | None:
    """Cells of the map that the states are named after, and beside it the states without a cell."""
    cells = cells_of(model.names)
    if cells is None:
        return None
    if model.n_states > MOST_MAP_STATES:
        return _Places(
            None, note=f"A map of {model.n_states} states is too large to draw here; bm.plot.heat_map draws it."
        )
    at = np.column_stack([cells.column - cells.column.min(), cells.row - cells.row.min()]).astype(np.float64)
    return _Places(at, beside=list(cells.beside))


def _as_graph(moves: sparse.csr_array) -> _Places:
    """A layout of the graph in which likely moves pull states together."""
    n = moves.shape[0]
    if n > MOST_GRAPH_STATES:
        return _Places(None, note=f"A graph of {n} states is too large to draw readably.")
    try:
        import networkx
    except ImportError:
        raise MissingExtra("reports need networkx, which is missing: pip install 'bisimetric[plot]'") from None
    graph = networkx.from_scipy_sparse_array(sparse.csr_array(moves + moves.T))
    found = networkx.spring_layout(graph, seed=LAYOUT_SEED, iterations=min(LAYOUT_ROUNDS, LAYOUT_WORK // n))
    at: npt.NDArray[np.float64] = np.array([found[state] for state in range(n)], np.float64)
    span = np.ptp(at, axis=0)
    return _Places((at - at.min(axis=0)) / np.where(span > 0, span, 1.0))
