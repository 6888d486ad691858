"""Arrows of a policy over the cells of a grid.

An arrow points where its action is meant to go: by the action's name (left, north, …) where all actions have such a
name, else to the mean of the successors' cells. States that no action leaves have none.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.errors import InvalidOption
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.policies import checked_policy
from bisimetric.models.rows import Floats, Mask
from bisimetric.solving.solution import Answer
from bisimetric.views.grid_cells import GridCells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIRECTIONS_BY_NAME = {  # columns to the right, rows down
    "left": (-1.0, 0.0), "right": (1.0, 0.0), "up": (0.0, -1.0), "down": (0.0, 1.0),
    "west": (-1.0, 0.0), "east": (1.0, 0.0), "north": (0.0, -1.0), "south": (0.0, 1.0),
    "stay": (0.0, 0.0),
}  # fmt: skip
ARROW_COLOUR = "#0072B2"
ARROW_LENGTH = 0.62  # in cells
LOWERED, LOWERED_LENGTH = 0.15, 0.8  # of an arrow below a text: how far from the middle, in cells, and how long
TRAPS = frozenset({"hole", "cliff"})  # labels of cells that nobody acts in
SHORTEST_ARROW = 0.05  # of the longest; a shorter one is not drawn
POLICY_FORMS = "an optimal one as policy='optimal' with a discount, n action indices, or probabilities [n, A]"


def policy_weights(mdp: MDP, policy: Any, discount: float | None) -> Floats:
    """[n, A], how often a policy takes each action; "optimal" is a best one for the discount."""
    if isinstance(policy, str) and policy == "optimal":
        if discount is None:
            raise InvalidOption("policy is 'optimal', which needs a discount, as discount=0.99")
        return checked_policy(mdp.optimal_policy(discount).policy, mdp.available, mdp.action_name)
    if discount is not None:
        raise InvalidOption(f"a discount is given, which only policy='optimal' has a use for; expected {POLICY_FORMS}")
    return checked_policy(policy, mdp.available, mdp.action_name)


def best_policy(solution: Answer, model: Model) -> Floats | None:
    """[n, A], an optimal policy of a decision process for the discount of a solution; None for a chain."""
    if not isinstance(model, MDP):
        return None
    return policy_weights(model, "optimal", solution.problem.discount)  # type: ignore[attr-defined]


def draw_arrows(axes: Axes, mdp: MDP, cells: GridCells, weights: Floats, lowered: Set[int]) -> None:
    """Draw an arrow for every action that is taken, as long as it is likely; lower in cells that also hold a text."""
    ways = _ways(mdp, cells)  # [n, A, 2]
    taken = (weights > SHORTEST_ARROW) & has_arrow(mdp, cells)[:, None]
    state, action = np.nonzero(taken & (np.abs(ways).max(axis=2) > SHORTEST_ARROW))
    step = ways[state, action] / np.linalg.norm(ways[state, action], axis=1, keepdims=True)
    step = step * ARROW_LENGTH * weights[state, action][:, None]
    low = np.isin(state, list(lowered))
    step[low] *= LOWERED_LENGTH
    x, y = cells.column[state] - step[:, 0] / 2, cells.row[state] - step[:, 1] / 2 + LOWERED * low
    if (weights.max(axis=1) < 1.0).any():  # several arrows in a cell begin in its middle
        x, y = x + step[:, 0] / 2, y + step[:, 1] / 2
    axes.quiver(
        x, y, step[:, 0], step[:, 1], angles="xy", scale_units="xy", scale=1.0, units="xy", color=ARROW_COLOUR,
        width=0.07, headwidth=3.6, headlength=3.6, headaxislength=3.2, zorder=3,
    )  # fmt: skip


def has_arrow(mdp: MDP, cells: GridCells) -> Mask:
    """[n], cells that some available action leaves and nothing traps."""
    stays = np.stack([matrix.diagonal() == 1.0 for matrix in mdp.transitions], axis=1)
    trap = np.array([label in TRAPS for label in mdp.labels or [""] * mdp.n_states])
    found: Mask = (mdp.available & ~stays).any(axis=1) & cells.inside & ~trap
    return found


def _ways(mdp: MDP, cells: GridCells) -> Floats:
    """[n, A, 2], columns and rows that an action is meant to go."""
    known = [DIRECTIONS_BY_NAME.get(mdp.action_name(a).lower()) for a in range(mdp.n_actions)]
    if all(way is not None for way in known):
        return np.tile(np.array(known, np.float64), (mdp.n_states, 1, 1))
    place = np.column_stack([cells.column, cells.row]).astype(np.float64)
    place[~cells.inside] = np.nan  # such successors have no cell
    means = []
    for matrix in mdp.transitions:
        known_mass = matrix @ cells.inside.astype(np.float64)
        mean = matrix @ np.nan_to_num(place)
        mean = np.divide(mean, known_mass[:, None], out=np.nan_to_num(place), where=known_mass[:, None] > 0)
        means.append(np.where(cells.inside[:, None], mean - np.nan_to_num(place), 0.0))
    return np.stack(means, axis=1)
