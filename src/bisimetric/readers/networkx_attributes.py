"""Nodes of NetworkX graphs and their attributes, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bisimetric._support.options import as_float, check_kind, hint, shown
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.rows import Floats

WEIGHT, REWARD, LABEL, START_LAW, ACTION = "weight", "reward", "label", "start", "action"  # default names


def nodes_of(graph: Any) -> list[Any]:
    """All nodes, at least one."""
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise InvalidOption(f"graph is a {type(graph).__name__}, expected a graph of NetworkX")
    nodes = list(graph.nodes)
    if not nodes:
        raise InvalidChain("the graph has no nodes, expected at least one")
    return nodes


def names_of(nodes: Sequence[Any]) -> list[str] | None:
    """The nodes as texts; None for 0, 1, … in this order."""
    if all(type(node) is int and node == k for k, node in enumerate(nodes)):
        return None
    names = [str(node) for node in nodes]
    if len(set(names)) < len(names):
        seen: dict[str, Any] = {}
        for name, node in zip(names, nodes, strict=True):
            if name in seen:
                raise InvalidChain(
                    f"the nodes {shown(seen[name])} and {shown(node)} are both {name!r} as text, expected different "
                    "names; networkx.relabel_nodes gives them others"
                )
            seen[name] = node
    return names


def number(value: object) -> float:
    """A number of Python or numpy as a float; NaN for anything else."""
    return as_float(value.item() if isinstance(value, np.generic) else value)


def checked_law(given: Sequence[object], nodes: Sequence[Any]) -> Floats:
    """Probabilities at the nodes; their sum is checked by the model."""
    law = np.array([number(value) for value in given])
    wrong = np.flatnonzero(~((law >= 0.0) & (law <= 1.0)))
    if len(wrong):
        k = int(wrong[0])
        raise InvalidChain(
            f"the start has {shown(given[k])} at the node {shown(nodes[k])}, expected a probability; "
            "give start=, or divide by the sum"
        )
    return law


def attribute(graph: Any, nodes: Sequence[Any], name: str | None, default: str | None) -> list[Any] | None:
    """The attribute of every node; None where no node has one of the default name, or there is no name."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise InvalidOption(f"an attribute is named {shown(name)}, expected a text")
    attributes = [graph.nodes[node] for node in nodes]
    lacking = [k for k, found in enumerate(attributes) if name not in found]
    if len(lacking) == len(nodes):
        if name == default:
            return None
        raise InvalidOption(f"no node has the attribute {name!r}{hint(name, {str(k) for a in attributes for k in a})}")
    if lacking:
        raise InvalidChain(
            f"the node {shown(nodes[lacking[0]])} has no attribute {name!r}, but others have; give it to all, or "
            "take another name or None"
        )
    return [found[name] for found in attributes]


def rewards_of(graph: Any, nodes: Sequence[Any], reward: str | None) -> Floats | None:
    """The rewards of all nodes, if they have any."""
    given = attribute(graph, nodes, reward, REWARD)
    if given is None:
        return None
    for node, value in zip(nodes, given, strict=True):
        if not np.isfinite(number(value)):
            raise InvalidChain(f"the node {shown(node)} has {reward} {shown(value)}, expected a finite number")
    return np.array([number(value) for value in given])


def labels_of(graph: Any, nodes: Sequence[Any], label: str | None, features: Any) -> list[Any] | None:
    """The labels or features of all nodes, if they have any."""
    if features is None:
        return attribute(graph, nodes, label, LABEL)
    if label not in (None, LABEL):
        raise InvalidOption("label and features are both given, but a state has one label; leave one of them out")
    check_kind(features, "features", (str, list, tuple), "the name of an attribute, or a list of names")
    if isinstance(features, str):
        vectors = [_vector(one) for one in attribute(graph, nodes, features, None) or ()]
    else:
        columns = [attribute(graph, nodes, name, None) or [] for name in features]
        vectors = [list(row) for row in zip(*columns, strict=True)]
    found = [tuple(number(part) for part in vector) for vector in vectors]
    for node, vector in zip(nodes, found, strict=True):
        if len(vector) != len(found[0]) or not np.isfinite(vector).all() or not vector:
            raise InvalidChain(f"the features of the node {shown(node)} are not {len(found[0])} finite numbers")
    return list(found)


def _vector(value: object) -> list[object]:
    """The parts of a feature vector; a single number is a vector of one."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return list(value)
    return [value]
