"""Random walks on graphs of every kind, with their attributes, and everything that may be wrong in them."""

from __future__ import annotations

from contextlib import suppress

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain, InvalidOption

WEIGHTED = nx.DiGraph()
WEIGHTED.add_weighted_edges_from([("a", "b", 3.0), ("a", "c", 1.0), ("b", "a", 2.0), ("c", "c", 0.5)])


def rows(graph, **options):
    """The transition matrix of the walk."""
    return bm.from_networkx(graph, **options).transitions.toarray()


def test_the_simple_walk():
    """As NetworkX' own stochastic graph, weighted or not, directed or not."""
    random = np.random.default_rng(0)
    for graph in (nx.karate_club_graph(), nx.gnp_random_graph(12, 0.5, seed=1, directed=True), nx.path_graph("abc")):
        for u, v in graph.edges:
            graph[u][v]["weight"] = random.integers(1, 5)
        graph.add_edge(u, u, weight=2.0)
        directed = graph if graph.is_directed() else graph.to_directed()
        expected = nx.to_numpy_array(nx.stochastic_graph(directed))
        np.testing.assert_allclose(rows(graph), expected, atol=1e-15)
        np.testing.assert_array_equal(bm.as_chain(graph).transitions.toarray(), rows(graph))
        plain = nx.to_numpy_array(directed, weight=None)
        np.testing.assert_allclose(rows(graph, weight=None), plain / plain.sum(axis=1, keepdims=True))


def test_names():
    """Nodes as text; 0, 1, … in order have none; equal texts are refused."""
    assert bm.from_networkx(WEIGHTED).names == ("a", "b", "c")
    assert bm.from_networkx(nx.cycle_graph(4)).names is None
    assert bm.from_networkx(nx.grid_2d_graph(2, 2)).names == ("(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)")
    with pytest.raises(InvalidChain, match=r"1 and '1' are both '1'.*relabel_nodes"):
        bm.from_networkx(nx.Graph([(1, "1")]))


def test_parallel_edges_are_summed():
    """Directed and undirected."""
    graph = nx.MultiDiGraph([("a", "b", {"weight": 1}), ("a", "b", {"weight": 2}), ("a", "a"), ("b", "a")])
    assert rows(graph).tolist() == [[0.25, 0.75], [1.0, 0.0]]
    assert rows(nx.MultiGraph([(0, 1), (0, 1), (0, 2)]))[0].tolist() == pytest.approx([0, 2 / 3, 1 / 3])
    huge = nx.MultiDiGraph([(0, 1, {"weight": 1e308})] * 3 + [(0, 0, {"weight": 1e308}), (1, 0)])
    assert rows(huge)[0].tolist() == [0.25, 0.75]


def test_lazy_walks_and_restarts():
    """ℓI + (1 - ℓ)P and r·1·startᵀ + (1 - r)P."""
    simple, one = rows(WEIGHTED), np.eye(3)
    np.testing.assert_allclose(rows(WEIGHTED, walk="lazy"), 0.5 * one + 0.5 * simple)
    np.testing.assert_allclose(rows(WEIGHTED, walk="lazy", laziness=0.25), 0.25 * one + 0.75 * simple)
    np.testing.assert_allclose(rows(WEIGHTED, walk="restart"), 0.15 / 3 + 0.85 * simple)
    at_b = 0.4 * np.array([[0, 1, 0]]) + 0.6 * simple
    np.testing.assert_allclose(rows(WEIGHTED, walk="restart", restart=0.4, start="b"), at_b)
    assert bm.from_networkx(WEIGHTED, walk="restart").start.tolist() == pytest.approx([1 / 3] * 3)
    for share, expected in ((0.0, simple), (1.0, one)):
        assert rows(WEIGHTED, walk="lazy", laziness=share).tolist() == expected.tolist()


def test_restarts_keep_pagerank():
    """The stationary law of a walk with restarts is NetworkX' PageRank."""
    graph = nx.gnp_random_graph(15, 0.3, seed=3, directed=True)
    chain = bm.from_networkx(graph, walk="restart", sinks="restart")
    rank = nx.pagerank(graph, alpha=0.85, tol=1e-14)
    law = np.array([rank[node] for node in graph])
    np.testing.assert_allclose(law @ chain.transitions.toarray(), law, atol=1e-10)


def test_starts():
    """A node, a mapping, uniform, stationary, the attribute, or none."""
    chain = bm.from_networkx(WEIGHTED, start="b")
    assert chain.start.tolist() == [0, 1, 0]
    assert bm.from_networkx(WEIGHTED).start is None
    assert bm.from_networkx(WEIGHTED, start={"a": 0.25, "c": 0.75}).start.tolist() == [0.25, 0, 0.75]
    assert bm.from_networkx(WEIGHTED, start="uniform").start.tolist() == pytest.approx([1 / 3] * 3)
    assert bm.from_networkx(WEIGHTED, start="stationary").start.tolist() == [0, 0, 1]
    degree = np.array([d for _, d in nx.karate_club_graph().degree(weight="weight")])
    club = bm.from_networkx(nx.karate_club_graph(), start="stationary")
    np.testing.assert_allclose(club.start, degree / degree.sum(), atol=1e-14)
    named = nx.DiGraph([("uniform", "x"), ("x", "uniform")])
    assert bm.from_networkx(named, start="uniform").start.tolist() == [1, 0]  # a node comes first
    assert bm.from_networkx(nx.cycle_graph(3), start=2).start.tolist() == [0, 0, 1]


def test_sinks():
    """Refused by default, or by a rule."""
    graph = nx.DiGraph([("a", "b"), ("a", "c"), ("c", "a")])
    with pytest.raises(InvalidChain, match=r"'b' has no outgoing weight.*sinks='absorb'.*sinks='restart'"):
        bm.from_networkx(graph)
    assert rows(graph, sinks="absorb")[1].tolist() == [0, 1, 0]
    assert rows(graph, sinks="restart", start="c")[1].tolist() == [0, 0, 1]
    np.testing.assert_allclose(rows(graph, sinks="restart")[1], 1 / 3)
    np.testing.assert_allclose(rows(graph, sinks="absorb", walk="lazy")[1], [0, 1, 0])
    graph["a"]["b"]["weight"] = graph["a"]["c"]["weight"] = 0.0
    with pytest.raises(InvalidChain, match="'a' has no outgoing weight"):
        bm.from_networkx(graph)


def test_attributes():
    """Rewards, labels and features of nodes, by the default names or others."""
    graph = nx.path_graph(3)
    values = {0: 1.5, 1: np.int64(2), 2: -1}
    nx.set_node_attributes(graph, values, "reward")
    nx.set_node_attributes(graph, values, "height")
    nx.set_node_attributes(graph, {0: "x", 1: {"p", "q"}, 2: 3}, "label")
    nx.set_node_attributes(graph, {0: [1, 2], 1: (0.5, 0.5), 2: np.array([3.0, 4.0])}, "place")
    chain = bm.as_chain(graph)
    assert chain.reward.tolist() == [1.5, 2.0, -1.0]
    assert chain.labels == ("x", ("p", "q"), 3)
    bare = bm.from_networkx(graph, reward=None, label=None)
    assert (bare.reward, bare.labels) == (None, None)
    assert bm.from_networkx(graph, reward="height", features="place").labels == ((1, 2), (0.5, 0.5), (3, 4))
    assert bm.from_networkx(graph, features=["height", "reward"]).labels[0] == (1.5, 1.5)
    assert bm.from_networkx(graph, features="height").labels == ((1.5,), (2.0,), (-1.0,))


ATTRIBUTED = nx.path_graph(3)
nx.set_node_attributes(ATTRIBUTED, {0: 1.0, 1: 2.0}, "reward")
nx.set_node_attributes(ATTRIBUTED, {0: 1.0, 1: "x", 2: 3.0}, "height")
nx.set_node_attributes(ATTRIBUTED, {0: [1.0], 1: [1.0, 2.0], 2: [1.0]}, "place")
nx.set_node_attributes(ATTRIBUTED, {0: 2020, 1: 2021, 2: 2022}, "start")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "uniform"}, "node 2 has no attribute 'reward', but others have"),
        ({"reward": None}, "start has 2020 at the node 0, expected a probability"),
        ({"reward": "hight", "start": 0}, "did you mean 'height'"),
        ({"reward": "height", "start": 0}, "node 1 has height 'x'"),
        ({"reward": None, "start": 0, "features": "place"}, "features of the node 1 are not 1 finite numbers"),
        ({"reward": None, "start": 0, "features": "place", "label": "height"}, "leave one of them out"),
        ({"reward": None, "start": 0, "weight": "weigth"}, "no edge has the attribute 'weigth'"),
        ({"reward": None, "start": 7}, "start is 7, expected a node"),
        ({"reward": None, "start": "statonary"}, "did you mean 'stationary'"),
        ({"reward": None, "start": {7: 1.0}}, "7, which is no node"),
        ({"reward": None, "start": {0: 0.5}}, "sums to 0.5"),
        ({"reward": None, "start": "stationary", "walk": "restart"}, "returns to its start"),
        ({"walk": "lasy"}, "did you mean 'lazy'"),
        ({"sinks": "drop"}, "expected one of refuse, absorb, restart"),
        ({"reward": None, "start": 0, "laziness": 0.5}, "laziness is for walk='lazy'"),
        ({"reward": None, "start": 0, "restart": 0.5}, "restart is for walk='restart'"),
        ({"reward": None, "start": 0, "walk": "lazy", "laziness": 2}, "from 0 to 1"),
        ({"reward": 3, "start": 0}, "expected a text"),
    ],
)
def test_wrong_options(options, message):
    """Each names what was expected."""
    with pytest.raises((InvalidOption, InvalidChain), match=message):
        bm.from_networkx(ATTRIBUTED, **options)


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, "3", None, 1j])
def test_wrong_weights(weight):
    """The edge is named."""
    with pytest.raises(InvalidChain, match="edge from 'a' to 'b' has weight"):
        bm.from_networkx(nx.DiGraph([("a", "b", {"weight": weight})]))


def test_no_graph_and_no_nodes():
    """Other objects and empty graphs."""
    with pytest.raises(InvalidOption, match="graph is a int"):
        bm.from_networkx(3)
    with pytest.raises(InvalidChain, match="no nodes"):
        bm.as_chain(nx.Graph())


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.text(max_size=2)
    | st.lists(st.floats(), max_size=2)
)
NODES = st.integers(0, 2) | st.sampled_from(["a", "0", (1, 2), None.__class__])
ATTRIBUTES = st.dictionaries(st.sampled_from(["weight", "reward", "label", "start", "action", "x"]), VALUES)


@given(
    st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]),
    st.lists(st.tuples(NODES, NODES, ATTRIBUTES), max_size=5),
    st.lists(st.tuples(NODES, ATTRIBUTES), max_size=3),
    st.fixed_dictionaries({}, optional={
        "walk": st.sampled_from(["simple", "lazy", "restart"]), "sinks": st.sampled_from(["absorb", "restart"]),
        "start": NODES | VALUES | st.sampled_from(["uniform", "stationary"]), "reward": VALUES, "label": VALUES,
        "features": VALUES | st.just(["x"]), "laziness": VALUES, "restart": VALUES, "weight": VALUES,
    }),
)  # fmt: skip
def test_any_graph(kind, edges, nodes, options):
    """A chain, or an error of ours."""
    graph = kind()
    graph.add_edges_from(edges)
    graph.add_nodes_from(nodes)
    for make in (bm.as_chain, bm.as_mdp, lambda graph: bm.from_networkx(graph, **options)):
        with suppress(BisimetricError):
            make(graph)
