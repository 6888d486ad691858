"""The Weisfeiler-Lehman distance between graphs: a finite horizon whose only cost is that of labels at its end.

    D_0(x, y) = d(label x, label y),        D_k(x, y) = OT_{D_{k-1}}(P[x], Q[y]),        distance = OT_{D_k}(μ, ν)

P and Q are random walks on the two graphs, μ and ν laws that they keep. D_k compares the labels that k rounds of
message passing give to nodes, so the distance is zero where k rounds of the Weisfeiler-Lehman test see no difference.

Reference: Chen, Lim, Mémoli, Wan & Wang 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import as_index, shown
from bisimetric.cost.ground import Cost, label_mismatch
from bisimetric.errors import InvalidChain, InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.readers.convert import as_chain
from bisimetric.readers.networkx import READER, edge_weights, from_networkx
from bisimetric.readers.walks import stationary
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.history import Step
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.solve import solve


def weisfeiler_lehman_distance(
    graph_a: Any,
    graph_b: Any,
    *,
    depth: int,
    cost: npt.ArrayLike | Cost | None = None,
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> HorizonSolution:
    """The certified Weisfeiler-Lehman distance of a depth between two graphs.

    Parameters
    ----------
    graph_a, graph_b : networkx graph, or anything that `as_chain` takes
        Graphs with n and m nodes, on which a simple random walk goes; it stays at nodes without edges. `from_networkx`
        makes other walks: a lazy one, `from_networkx(graph, walk="lazy")`, also sees the label of the node itself.
    depth : int ≥ 0
        The number of steps. At depth 0 labels are compared where the walks begin; that is solved as one step whose
        only cost is paid before it.
    cost : [n, m] array, cost object or None
        How different the labels of two nodes are. None is 1 where labels differ and 0 elsewhere; if neither graph has
        labels, it is the difference in the numbers of neighbours: the nodes to which an edge of positive weight leads,
        itself where a node has a loop. A node without edges has none. Of chains and matrices, which may stay without
        a loop, all states count that a state moves to.
    solver, tol, time_limit, throw, on_step
        As for `solve`.

    Returns
    -------
    HorizonSolution
        `distance` and `interval` for walks that begin with the laws that they keep, or with their starts if the chains
        have some; `value` [n, m] between all nodes. In an undirected graph nodes count as the weights of their edges;
        one without edges counts as an edge of mean weight.

    Raises
    ------
    InvalidChain
        A graph is directed, and its walk keeps several laws; `chain.with_start(law)` says which to take.
    InvalidProblem
        The depth is no whole number ≥ 0, one graph has labels and the other has none, or the cost does not fit.

    References
    ----------
    Chen, Lim, Mémoli, Wan & Wang 2022, Weisfeiler-Lehman meets Gromov-Wasserstein.

    Examples
    --------
    >>> import bisimetric as bm, networkx as nx
    >>> ring, line = nx.cycle_graph(6), nx.path_graph(6)
    >>> round(bm.weisfeiler_lehman_distance(ring, line, depth=1).distance, 10)
    0.2
    >>> bm.weisfeiler_lehman_distance(ring, nx.cycle_graph(5), depth=4).distance
    0.0
    """
    steps = as_index(depth)
    if steps is None or steps < 0:
        raise InvalidProblem(f"depth is {shown(depth)}, expected a whole number of steps ≥ 0")
    source, target = _walk(graph_a), _walk(graph_b)
    apart = _default_cost((graph_a, source), (graph_b, target)) if cost is None else cost
    nothing = np.zeros((source.n_states, target.n_states))
    before, after = (nothing, apart) if steps else (apart, nothing)
    try:
        problem = HorizonProblem(source, target, horizon=max(steps, 1), cost=before, terminal=after)
    except InvalidProblem as error:
        raise InvalidProblem(str(error).replace("horizon is", "depth is").replace("terminal: ", "")) from None
    return solve(problem, solver, tol=tol, time_limit=time_limit, throw=throw, on_step=on_step)


def _walk(graph: Any) -> MarkovChain:
    """The walk with its start, or else a law that it keeps."""
    if READER.matches(graph):
        chain = from_networkx(graph, sinks="absorb")
        law = None if graph.is_directed() else _degrees(graph)
    else:
        chain, law = as_chain(graph), None
    if chain.start is not None:
        return chain
    try:
        return chain.with_start(stationary(chain.transitions) if law is None else law)
    except InvalidChain as error:
        raise InvalidChain(f"{error}; chain.with_start(law) says where it starts") from None


def _degrees(graph: Any) -> Floats:
    """The share of every node in the weights of all edges, which a walk on an undirected graph keeps."""
    matrix = edge_weights(graph, list(graph))
    weights, edges = np.asarray(matrix.sum(axis=1)).ravel(), matrix.data[matrix.data > 0.0]
    weights[weights == 0.0] = edges.mean() if len(edges) else 1.0  # a node without edges, where the walk stays
    law: Floats = weights / weights.sum()
    return law


def _default_cost(*sides: tuple[Any, MarkovChain]) -> Cost | Floats:
    """Whether labels differ, or else the difference in the numbers of neighbours."""
    if any(chain.labels is not None for _, chain in sides):
        return label_mismatch
    apart: Floats = np.abs(np.subtract.outer(*(_neighbours(*side) for side in sides)))
    return apart


def _neighbours(graph: Any, chain: MarkovChain) -> Floats:
    """[n], how many nodes each has an edge to; of a chain that is no graph, how many states it moves to."""
    weights = edge_weights(graph, list(graph)) if READER.matches(graph) else chain.transitions
    counts: Floats = np.asarray((weights > 0.0).sum(axis=1), np.float64).ravel()
    return counts
