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


def by_hand(a, b, cost, depth):
    """The definition, with transports by linear programs, for undirected graphs; walks stay at nodes without edges."""
    walks = [networkx.to_numpy_array(graph) for graph in (a, b)]
    for walk in walks:
        alone = np.flatnonzero(walk.sum(axis=1) == 0.0)
        walk[alone, alone] = 1.0
    laws = [walk.sum(axis=1) / walk.sum() for walk in walks]
    P, Q = (walk / walk.sum(axis=1, keepdims=True) for walk in walks)
    value = cost
    for _ in range(depth):
        value = np.array([[transport(p, q, value) for q in Q] for p in P])
    return transport(*laws, value)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_the_definition(depth):
    """OT of the labels, depth times, then between the laws that the walks keep."""
    labels = [list("aabbca"), list("abcab")]
    graphs = networkx.path_graph(6), networkx.house_x_graph()
    for graph, own in zip(graphs, labels, strict=True):
        networkx.set_node_attributes(graph, dict(enumerate(own)), "label")
    found = bm.weisfeiler_lehman_distance(*graphs, depth=depth)
    differ = np.not_equal.outer(*labels).astype(float)
    assert found.distance == pytest.approx(by_hand(*graphs, differ, depth), abs=1e-9)
    assert found.interval[0] <= found.distance <= found.interval[1]


@pytest.mark.parametrize("seed", range(6))
def test_numbers_of_neighbours(seed):
    """Of nodes with loops, without edges, and with edges of weight zero, which lead nowhere."""
    graphs, counts = [], []
    for k, size in enumerate((6, 5)):
        graph = networkx.gnp_random_graph(size, 0.3, seed=10 * seed + k)
        graph.add_edge(0, 0)
        graph.add_edge(1, 2, weight=0.0)
        graph.add_node("alone")
        graphs.append(graph)
        counts.append((networkx.to_numpy_array(graph) > 0.0).sum(axis=1))
    cost = np.abs(np.subtract.outer(*counts)).astype(float)
    for depth in (0, 1, 2):
        found = bm.weisfeiler_lehman_distance(*graphs, depth=depth)
        assert found.distance == pytest.approx(by_hand(*graphs, cost, depth), abs=1e-9)


def test_a_node_without_edges_has_no_neighbour():
    """Where its walk stays is no edge; in a directed graph the same holds for nodes without a way out."""
    one, two = networkx.empty_graph(1), networkx.path_graph(2)
    for depth in (0, 1, 5):
        assert bm.weisfeiler_lehman_distance(one, two, depth=depth).distance == pytest.approx(1.0)
    assert bm.weisfeiler_lehman_distance(one, networkx.empty_graph(3), depth=2).interval == (0.0, 0.0)
    sink = networkx.DiGraph([(0, 1)])
    assert bm.weisfeiler_lehman_distance(one, sink, depth=1).distance == 0.0


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
    for depth in (-1, 1.5, None):
        with pytest.raises(InvalidProblem, match="depth is"):
            bm.weisfeiler_lehman_distance(RING, LINE, depth=depth)
    labelled = networkx.path_graph(2)
    networkx.set_node_attributes(labelled, "a", "label")
    with pytest.raises(InvalidProblem, match="no labels"):
        bm.weisfeiler_lehman_distance(RING, labelled, depth=1)
    with pytest.raises(InvalidChain, match="with_start"):
        bm.weisfeiler_lehman_distance(np.eye(2), RING, depth=1)


@pytest.mark.parametrize("unit", [1.0, 1000.0, 1e-6])
def test_the_unit_of_weights_does_not_matter(unit):
    """A node without edges counts as an edge of mean weight."""
    graph = networkx.Graph()
    graph.add_weighted_edges_from([(0, 1, unit), (1, 2, unit)])
    graph.add_node(3)
    assert bm.weisfeiler_lehman_distance(graph, networkx.path_graph(3), depth=1).distance == pytest.approx(0.3)
