"""What people call the states and actions of toy-text environments: cells of a map, fields of the taxi, directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric.models.rows import Mask

TERMINAL = "terminal"  # the added state, and the label of states in which episodes end
GOAL_LABEL = "goal"
TILES = {b"S": "frozen", b"F": "frozen", b"H": "hole", b"G": GOAL_LABEL}  # of a frozen lake
ACTIONS = {  # by the class of the environment
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pickup", "dropoff"),
}


def action_names(env: object, n_actions: int) -> tuple[str, ...] | None:
    """The names of the actions, where the environment is a known one."""
    known = next((names for kind, names in ACTIONS.items() if _is_a(env, kind)), ())
    return known if len(known) == n_actions else None


def state_names(env: Any, n_states: int) -> list[str] | None:
    """The names of the table's states."""
    shape = _map_shape(env, n_states)
    if shape is not None:
        return [f"({k // shape[1]},{k % shape[1]})" for k in range(n_states)]
    return [_taxi_name(env, k) for k in range(n_states)] if _is_a(env, "TaxiEnv") else None


def state_labels(env: Any, n_states: int, ends: Mask) -> list[str]:
    """What is at each state: a tile, the cliff, the end of the episode, or nothing; `ends` may have a state more."""
    labels = np.where(ends, TERMINAL, "").astype(object)
    if _map_shape(env, n_states) is not None:
        tiles, cliff = (_array(env, name) for name in ("desc", "_cliff"))
        if tiles is not None and tiles.size == n_states and tiles.dtype == "S1":
            labels[:n_states] = [TILES.get(tile, tile.decode("latin-1")) for tile in tiles.ravel().tolist()]
        elif cliff is not None and cliff.size == n_states and cliff.dtype == np.bool_:
            labels[:n_states] = np.where(ends[:n_states], GOAL_LABEL, np.where(cliff.ravel(), "cliff", ""))
    found: list[str] = labels.tolist()
    return found


def _map_shape(env: Any, n_states: int) -> tuple[int, int] | None:
    """Rows and columns of the map whose cells the states are, numbered row by row."""
    tiles = _array(env, "desc")
    shapes = [
        getattr(tiles, "shape", None),
        (getattr(env, "nrow", None), getattr(env, "ncol", None)),
        getattr(env, "shape", None),
    ]
    for shape in shapes:
        if (
            isinstance(shape, (tuple, list))
            and len(shape) == 2
            and all(isinstance(k, (int, np.integer)) for k in shape)
        ):
            rows, columns = (int(k) for k in shape)
            if min(rows, columns) > 0 and rows * columns == n_states:
                return rows, columns
    return None


def _taxi_name(env: Any, state: int) -> str:
    row, column, passenger, destination = (int(field) for field in env.decode(state))
    places = [env.desc[1 + r, 1 + 2 * c].decode("ascii") for r, c in env.locs]
    where = places[passenger] if passenger < len(places) else "in the taxi"
    return f"taxi ({row},{column}), passenger {where}, destination {places[destination]}"


def _is_a(env: object, kind: str) -> bool:
    return any(base.__name__ == kind for base in type(env).__mro__)


def _array(env: object, name: str) -> npt.NDArray[Any] | None:
    found = getattr(env, name, None)
    return found if isinstance(found, np.ndarray) else None
