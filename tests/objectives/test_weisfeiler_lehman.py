"""The Weisfeiler-Lehman distance between graphs."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidProblem
from tests.reference import transport

networkx = pytest.importorskip("networkx")
RING, LINE = networkx.cycle_graph(6), networkx.path_graph(6)
TWO_TRIANGLES = networkx.disjoint_union(networkx.cycle_graph(3), networkx.cycle_graph(3))


def by_hand(a, b, labels, depth):
    """The definition, with transports by linear programs, for undirected graphs."""
    walks = [networkx.to_numpy_array(graph) for graph in (a, b)]
    laws = [walk.sum(axis=1) / walk.sum() for walk in walks]
    P, Q = (walk / walk.sum(axis=1, keepdims=True) for walk in walks)
    value = np.not_equal.outer(*labels).astype(float)
    for _ in range(depth):
        value = np.array([[transport(p, q, value) for q in Q] for p in P])
    return transport(*laws, value)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_definition(depth):
    """OT of the labels, depth times, then between the laws that the walks keep."""
    labels = [list("aabbca"), list("abcab")]
    graphs = networkx.path_graph(6), networkx.house_x_graph()
    for graph, own in zip(graphs, labels, strict=True):
        networkx.set_node_attributes(graph, dict(enumerate(own)), "label")
    found = bm.weisfeiler_lehman_distance(*graphs, depth=depth)
    assert found.distance == pytest.approx(by_hand(*graphs, labels, depth), abs=1e-9)
    assert found.interval[0] <= found.distance <= found.interval[1]


def test_what_the_test_can_tell():
    """Regular graphs are alike at all depths; a line has ends, which the first step sees."""
    assert bm.weisfeiler_lehman_distance(RING, TWO_TRIANGLES, depth=9).interval == (0.0, 0.0)
    assert bm.weisfeiler_lehman_distance(RING, LINE, depth=1).distance == pytest.approx(0.2)
    assert bm.weisfeiler_lehman_distance(LINE, LINE, depth=3).distance == 0.0


def test_chains_matrices_and_other_walks():
    """Anything that `as_chain` takes; a start is kept."""
    lazy = bm.from_networkx(RING, walk="lazy", start=0)
    found = bm.weisfeiler_lehman_distance(lazy, np.full((3, 3), 1 / 3), depth=2, cost=np.ones((6, 3)))
    assert found.problem.source.start[0] == 1.0
    assert found.distance == pytest.approx(1.0)
    alone = networkx.Graph()
    alone.add_nodes_from([0, 1])
    assert bm.weisfeiler_lehman_distance(alone, alone, depth=1).distance == 0.0


def test_what_does_not_fit():
    """Depths, labels of one graph only, walks that keep several laws."""
    for depth in (0, -1, 1.5, None):
        with pytest.raises(InvalidProblem, match="depth is"):
            bm.weisfeiler_lehman_distance(RING, LINE, depth=depth)
    labelled = networkx.path_graph(2)
    networkx.set_node_attributes(labelled, "a", "label")
    with pytest.raises(InvalidProblem, match="no labels"):
        bm.weisfeiler_lehman_distance(RING, labelled, depth=1)
    with pytest.raises(InvalidChain, match="with_start"):
        bm.weisfeiler_lehman_distance(np.eye(2), RING, depth=1)
