"""Random walks on NetworkX graphs. A graph is read through its methods, so reading needs no import of NetworkX."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from bisimetric._support.options import check_kind, fraction, hint, one_of, shown
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats, scaled_rows
from bisimetric.readers.networkx_attributes import (
    ACTION,
    LABEL,
    REWARD,
    START_LAW,
    WEIGHT,
    attribute,
    checked_law,
    labels_of,
    names_of,
    nodes_of,
    number,
    rewards_of,
)
from bisimetric.readers.networkx_models import mdp_of
from bisimetric.readers.reader import Reader, is_from
from bisimetric.readers.walks import jumps, mixed_walk, sinks_of, stationary

if TYPE_CHECKING:
    import networkx

RANDOM_WALKS = ("simple", "lazy", "restart")
SINKS = ("refuse", "absorb", "restart")
LAWS = ("uniform", "stationary")  # starts by name
NEAR_OVERFLOW, HALVING = 1e300, 2.0**-64  # weights above, and a factor that keeps sums of many finite
LAZINESS, RESTART = 0.5, 0.15  # defaults


def from_networkx(
    graph: networkx.Graph[Any],
    *,
    weight: str | None = WEIGHT,
    walk: Literal["simple", "lazy", "restart"] = "simple",
    laziness: float | None = None,
    restart: float | None = None,
    reward: str | None = REWARD,
    label: str | None = LABEL,
    features: str | Sequence[str] | None = None,
    start: object = None,
    sinks: Literal["refuse", "absorb", "restart"] = "refuse",
) -> MarkovChain:
    """Make the chain of a random walk on a graph.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        An undirected edge leads both ways, a loop counts once, and weights of parallel edges are added.
    weight : str or None, default "weight"
        The attribute of edges by which the walk chooses; 1 where an edge has none, and everywhere for None.
    walk : "simple", "lazy" or "restart"
        A lazy walk stays with probability `laziness`; one with restarts returns to its start with probability
        `restart`. Both choose among the edges otherwise.
    laziness, restart : float from 0 to 1, optional
        0.5 and 0.15 by default, each for its walk.
    reward : str or None, default "reward"
        The attribute of nodes that becomes their reward.
    label : str or None, default "label"
        The attribute of nodes that becomes their label.
    features : str or sequence of str, optional
        The attribute that holds a vector, or attributes that hold numbers; they become the label, a tuple.
    start : node, mapping, "uniform", "stationary" or None
        A node, or a mapping from nodes to probabilities. "stationary" is the law that the walk keeps, which must be the
        only one. With None the attribute "start" of the nodes holds probabilities; where there is none, the chain has
        no start, or a uniform one if the walk returns to it.
    sinks : "refuse", "absorb" or "restart"
        What happens at a node without outgoing weight: an error, a walk that stays there, or one that returns to its
        start.

    Returns
    -------
    MarkovChain
        States are the nodes in the graph's order, with their names as texts; the nodes 0, 1, … have no names.

    Raises
    ------
    InvalidChain
        An attribute is missing or unusable, a node is a sink, or two nodes have the same name as text.
    InvalidOption
        An option is unknown or does not fit the others.

    Examples
    --------
    >>> import bisimetric as bm, networkx as nx
    >>> bm.from_networkx(nx.path_graph(["a", "b", "c"]), start="a")
    MarkovChain(3 states, 4 transitions, start, names)
    >>> ring, line = (bm.from_networkx(g, start="uniform") for g in (nx.cycle_graph(5), nx.path_graph(5)))
    >>> ring.n_states, line.transitions.nnz
    (5, 8)
    """
    nodes = nodes_of(graph)
    one_of(walk, "walk", RANDOM_WALKS)
    one_of(sinks, "sinks", SINKS)
    if _has_actions(graph):
        raise InvalidChain("the edges have actions, so this is a decision process; bisimetric.as_mdp(graph) reads it")
    law = _law(graph, nodes, start, returns=walk == "restart" or sinks == "restart")
    moves = _moves(edge_weights(graph, nodes, weight), nodes, sinks, law)
    share = _share(walk, laziness, restart)
    if walk == "lazy":
        moves = mixed_walk(moves, sparse.eye_array(len(nodes), format="csr"), share)
    elif walk == "restart" and law is not None:
        moves = mixed_walk(moves, jumps(np.ones(len(nodes)), law), share)
    return MarkovChain(
        moves,
        reward=rewards_of(graph, nodes, reward),
        start=stationary(moves) if law is None and start is not None else law,
        names=names_of(nodes),
        labels=labels_of(graph, nodes, label, features),
    )


def _has_actions(graph: Any) -> bool:
    return any(action is not None for *_, action in graph.edges(data=ACTION))


def _moves(weights: sparse.csr_array, nodes: Sequence[Any], sinks: str, law: Floats | None) -> sparse.csr_array:
    """Rows of the simple walk, with a rule for nodes that have no way out."""
    moves, stuck = scaled_rows(weights), sinks_of(weights)
    if not stuck.any():
        return moves
    if sinks == "refuse":
        raise InvalidChain(
            f"the node {shown(nodes[int(stuck.argmax())])} has no outgoing weight, so the walk cannot go on; "
            "sinks='absorb' lets it stay there, sinks='restart' lets it return to its start"
        )
    there = stuck.astype(float)
    return sparse.csr_array(
        moves + (sparse.diags_array(there) if law is None or sinks == "absorb" else jumps(there, law))
    )


def edge_weights(graph: Any, nodes: Sequence[Any], weight: str | None = WEIGHT) -> sparse.csr_array:
    """[n, n], the sum of the weights of all edges between two nodes."""
    if weight is not None:
        check_kind(weight, "weight", str, "the name of an attribute of edges, or None")
    place = {node: k for k, node in enumerate(nodes)}
    rows, columns, entries = [], [], []
    directed, known = graph.is_directed(), set[str]()
    for u, v, attributes in graph.edges(data=True):
        entry = 1.0 if weight is None else number(attributes.get(weight, 1))
        known |= {key for key in attributes if isinstance(key, str)}
        if not 0.0 <= entry < np.inf:
            raise InvalidChain(
                f"the edge from {shown(u)} to {shown(v)} has {weight} {shown(attributes.get(weight))}, "
                "expected a finite number, not negative"
            )
        ways = ((u, v),) if directed or u == v else ((u, v), (v, u))
        for x, y in ways:
            rows.append(place[x])
            columns.append(place[y])
            entries.append(entry)
    if weight not in (None, WEIGHT) and entries and weight not in known:
        raise InvalidOption(f"no edge has the attribute {weight!r}{hint(weight, known)}")
    scale = HALVING if entries and max(entries) > NEAR_OVERFLOW else 1.0  # sums of parallel edges do not overflow
    matrix = sparse.csr_array((np.array(entries, float) * scale, (rows, columns)), shape=(len(nodes), len(nodes)))
    matrix.sum_duplicates()
    return matrix


def _share(walk: str, laziness: object, restart: object) -> float:
    """The probability with which the walk does not choose among its edges."""
    for name, value in (("lazy", laziness), ("restart", restart)):
        option = {"lazy": "laziness"}.get(name, name)
        if value is not None and walk != name:
            raise InvalidOption(
                f"{option} is for walk={name!r}, but the walk is {walk!r}; leave it out, or change walk"
            )
    if walk == "lazy":
        return LAZINESS if laziness is None else fraction(laziness, "laziness")
    if walk == "restart":
        return RESTART if restart is None else fraction(restart, "restart")
    return 0.0


def _law(graph: Any, nodes: Sequence[Any], start: object, *, returns: bool) -> Floats | None:
    """The start as a distribution; None for none, and for the stationary one, which the walk decides."""
    uniform = np.full(len(nodes), 1.0 / len(nodes))
    if isinstance(start, Hashable) and start is not None and start in graph:
        return np.array([float(node == start) for node in nodes])
    if isinstance(start, Mapping):
        unknown = next((node for node in start if node not in graph), None)
        if unknown is not None:
            raise InvalidOption(f"start has {shown(unknown)}, which is no node of the graph{_close(unknown, nodes)}")
        return checked_law([start.get(node, 0.0) for node in nodes], nodes)
    if start is None:
        given = attribute(graph, nodes, START_LAW, START_LAW)
        return checked_law(given, nodes) if given is not None else (uniform if returns else None)
    if start == "stationary" and returns:
        raise InvalidOption("start is 'stationary', but the walk returns to its start; name a node, or 'uniform'")
    if not isinstance(start, str) or start not in LAWS:
        raise InvalidOption(
            f"start is {shown(start)}, expected a node, a mapping from nodes to probabilities, 'uniform' or "
            f"'stationary'{_close(start, [*nodes, *LAWS])}"
        )
    return uniform if start == "uniform" else None


def _close(word: object, known: Sequence[object]) -> str:
    return hint(word, [node for node in known if isinstance(node, str)])


def _read(graph: Any) -> MarkovChain | MDP:
    """A decision process where edges have actions, as `to_networkx` writes them; else a simple walk."""
    return mdp_of(graph, nodes_of(graph)) if _has_actions(graph) else from_networkx(graph)


READER = Reader("a graph of NetworkX", lambda obj: is_from(obj, "networkx"), _read, takes_text=False)
