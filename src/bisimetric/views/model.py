"""One model on its map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP, Model
from bisimetric.views.arrows import policy_weights
from bisimetric.views.figures import axes_or_new, figure_of
from bisimetric.views.grid_cells import checked_cells
from bisimetric.views.maps import draw_map
from bisimetric.views.titles import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODEL_SIDE = (0.9, 3.2, 6.4)  # inches: of a cell, and of the longer side of the map at least and at most


def model(
    model: Model,
    *,
    policy: object = None,
    discount: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a grid model on its map: walls, holes, rewards, the start, and the arrows of a policy.

    Parameters
    ----------
    model : MarkovChain or MDP
        A model of n states named "(row,column)", as `bisimetric.environments.grid` and `bisimetric.from_gymnasium` make
        them. A few states of other names are drawn beside the map.
    policy : "optimal", "uniform", n action indices or array [n, A], optional
        A policy of a decision process: arrows show its actions, numbers its rewards. Without one, numbers are the
        rewards that are furthest from 0.
    discount : float, optional
        For `policy="optimal"`.
    title : str, optional
        The title; by default where the model comes from.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If the model is not a grid, or the policy is none of its policies.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> lake = bm.as_mdp("gym:FrozenLake-v1")
    >>> figure = bm.plot.model(lake, policy="optimal", discount=0.95)
    """
    check_kind(
        model, "model", (MarkovChain, MDP), "a MarkovChain or MDP; as_chain or as_mdp makes one of a name or file"
    )
    if policy is not None and not isinstance(model, MDP):
        raise InvalidOption("policy is given for a chain, which has no actions; expected an MDP")
    cells = checked_cells(model.names)
    weights = policy_weights(model, policy, discount) if isinstance(model, MDP) and policy is not None else None
    left, right, bottom, top = cells.frame
    per_cell, least, most = MODEL_SIDE
    side = min(max(per_cell * max(right - left, bottom - top), least), most) / max(right - left, bottom - top)
    drawn = axes_or_new(ax, (max(side * (right - left), least) + 0.6, side * (bottom - top) + 1.2))
    draw_map(drawn, model, cells, (model.title or described(model)) if title is None else title, weights)
    return figure_of(drawn)
