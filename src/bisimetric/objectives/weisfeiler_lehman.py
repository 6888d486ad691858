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
    depth : int ≥ 1
        The number of steps.
    cost : [n, m] array, cost object or None
        How different the labels of two nodes are. None is 1 where labels differ and 0 elsewhere; if neither graph has
        labels, it is the difference in the numbers of neighbours.
    solver, tol, time_limit, throw, on_step
        As for `solve`.

    Returns
    -------
    HorizonSolution
        `distance` and `interval` for walks that begin with the laws that they keep (in an undirected graph nodes count
        as the weights of their edges), or with their starts if the chains have some; `value` [n, m] between all nodes.

    Raises
    ------
    InvalidChain
        A graph is directed, and its walk keeps several laws; `chain.with_start(law)` says which to take.
    InvalidProblem
        The depth is no whole number ≥ 1, one graph has labels and the other has none, or the cost does not fit.

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
    source, target = _walk(graph_a), _walk(graph_b)
    try:
        problem = HorizonProblem(
            source, target, horizon=depth, cost=np.zeros((source.n_states, target.n_states)),
            terminal=_default_cost(source, target) if cost is None else cost,
        )  # fmt: skip
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
    weights = np.asarray(edge_weights(graph, list(graph)).sum(axis=1)).ravel()
    weights[weights == 0.0] = 1.0  # a node without edges, where the walk stays
    law: Floats = weights / weights.sum()
    return law


def _default_cost(source: MarkovChain, target: MarkovChain) -> Cost | Floats:
    """Whether labels differ, or else the difference in the numbers of neighbours."""
    if source.labels is not None or target.labels is not None:
        return label_mismatch
    sizes = (np.diff(chain.transitions.indptr).astype(np.float64) for chain in (source, target))
    apart: Floats = np.abs(np.subtract.outer(*sizes))
    return apart
