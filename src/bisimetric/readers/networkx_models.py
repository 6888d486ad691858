"""Models as NetworkX graphs, and decision processes back from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bisimetric._support.options import check_kind, shown
from bisimetric.errors import InvalidChain, MissingExtra
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats
from bisimetric.readers.networkx_attributes import (
    ACTION,
    LABEL,
    REWARD,
    START_LAW,
    WEIGHT,
    attribute,
    checked_law,
    names_of,
    number,
)

if TYPE_CHECKING:
    import networkx


def to_networkx(model: MarkovChain | MDP) -> networkx.DiGraph[Any]:
    """Make a graph of a model, which `from_networkx` (a chain) or `as_mdp` (a decision process) makes into the same.

    Parameters
    ----------
    model : MarkovChain or MDP

    Returns
    -------
    networkx.DiGraph or networkx.MultiDiGraph
        Nodes are the names of states, or their indices; they have the attributes `reward` (in a chain), `label` and
        `start` (a probability), where the model has them. Edges have `weight`, the probability; those of a decision
        process are keyed by action and have `action` and `reward` too.

    Raises
    ------
    InvalidOption
        This is no model.
    MissingExtra
        NetworkX is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> graph = bm.to_networkx(bm.MarkovChain([[0.5, 0.5], [0, 1]], names=["a", "b"]))
    >>> graph["a"]["b"]
    {'weight': 0.5}
    >>> bm.from_networkx(graph)
    MarkovChain(2 states, 3 transitions, names)
    """
    check_kind(model, "model", (MarkovChain, MDP), "a MarkovChain or an MDP; bisimetric.as_chain makes one")
    try:
        import networkx
    except ImportError:
        raise MissingExtra("graphs need NetworkX, which is missing: pip install 'bisimetric[graph]'") from None
    nodes: Sequence[Any] = range(model.n_states) if model.names is None else model.names
    graph = networkx.DiGraph() if isinstance(model, MarkovChain) else networkx.MultiDiGraph()
    for k, node in enumerate(nodes):
        attributes: dict[str, object] = {}
        if isinstance(model, MarkovChain) and model.reward is not None:
            attributes[REWARD] = float(model.reward[k])
        if model.labels is not None:
            attributes[LABEL] = model.labels[k]
        if model.start is not None:
            attributes[START_LAW] = float(model.start[k])
        graph.add_node(node, **attributes)
    if isinstance(model, MarkovChain):
        rows = model.transitions.tocoo()
        for x, y, p in zip(rows.row.tolist(), rows.col.tolist(), rows.data.tolist(), strict=True):
            graph.add_edge(nodes[x], nodes[y], weight=p)
        return graph
    graph.graph[ACTION] = list(range(model.n_actions) if model.actions is None else model.actions)
    for a, action in enumerate(graph.graph[ACTION]):
        rows = model.transitions[a].tocoo()
        for x, y, p in zip(rows.row.tolist(), rows.col.tolist(), rows.data.tolist(), strict=True):
            if model.available[x, a]:
                paid = float(model.rewards[x, a])
                graph.add_edge(nodes[x], nodes[y], key=action, weight=p, action=action, reward=paid)
    return graph


def mdp_of(graph: Any, nodes: Sequence[Any]) -> MDP:
    """The decision process of a graph whose edges have actions, as `to_networkx` writes them."""
    actions, entries, paid = _moves(graph, nodes)
    start, labels = (attribute(graph, nodes, name, name) for name in (START_LAW, LABEL))
    return MDP(
        [_matrix(moves, len(nodes)) for moves in entries],
        np.nan_to_num(paid),
        start=None if start is None else checked_law(start, nodes),
        names=names_of(nodes),
        actions=names_of(actions),
        available=~np.isnan(paid),
        labels=labels,
    )


def _matrix(moves: Sequence[tuple[int, int, float]], n: int) -> sparse.csr_array:
    table = np.array(moves, np.float64).reshape(-1, 3)
    places = table[:, :2].astype(np.int64)
    return sparse.csr_array((table[:, 2], (places[:, 0], places[:, 1])), shape=(n, n))


def _moves(graph: Any, nodes: Sequence[Any]) -> tuple[list[Any], list[list[tuple[int, int, float]]], Floats]:
    """The actions, for each its moves (state, successor, probability), and the rewards [n, A], NaN for none."""
    place = {node: k for k, node in enumerate(nodes)}
    actions = list(graph.graph.get(ACTION, ()))
    edges = list(graph.edges(data=True))
    for u, v, attributes in edges:
        if attributes.get(ACTION) is None:
            raise InvalidChain(f"the edge from {shown(u)} to {shown(v)} has no action, but others have; give it to all")
        if attributes[ACTION] not in actions:
            actions.append(attributes[ACTION])
    entries: list[list[tuple[int, int, float]]] = [[] for _ in actions]
    paid = np.full((len(nodes), len(actions)), np.nan)
    for u, v, attributes in edges:
        a, x = actions.index(attributes[ACTION]), place[u]
        p, reward = number(attributes.get(WEIGHT, 1)), number(attributes.get(REWARD, 0.0))
        if not np.isfinite([p, reward]).all() or (not np.isnan(paid[x, a]) and paid[x, a] != reward):
            raise InvalidChain(
                f"the edge from {shown(u)} to {shown(v)} has {shown(attributes)}, expected a weight and a reward, the "
                "same on all edges of an action"
            )
        paid[x, a] = reward
        entries[a].append((x, place[v], p))
    return actions, entries, paid
