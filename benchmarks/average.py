"""Average costs: ours against pyotc's exact method, on the examples that pyotc comes with.

    edges        an octagon with and without one edge, squared distances of the nodes as costs
    lollipops    two lollipops, squared differences of degrees
    wheels       a wheel and the same with other spokes; squared differences of degrees
    blocks-N     two samples of a stochastic block model with N nodes; squared differences of degrees

Both solve the same matrices. The truth is our interval at a relative gap of 1e-11; ours is measured with its default
tolerance, pyotc with its own stopping rules. Every measurement has a process of its own and one thread; the fastest of
its repeats counts.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any

import numpy as np

import bisimetric as bm
from benchmarks.measure import ENOUGH, in_fresh_process, limits, repeated
from benchmarks.tables import Row, Table, digits

INSTANCES = ("edges-1", "edges-3", "lollipops", "wheels-2", "wheels-3", "blocks-8", "blocks-12")
QUICK_INSTANCES = ("edges-1", "lollipops")
TRUTH = 1e-11  # relative gap of the interval that stands for the truth
SMALL = 1e-3  # of the largest cost: errors of smaller distances are relative to it
TIMEOUT = 60.0  # CPU seconds that pyotc may take
WITHIN, BETWEEN = 0.8, 0.1  # probability of an edge inside a block, and between two

Matrices = tuple[Any, Any, Any]  # transitions of the source, of the target, and costs


def matrices(instance: str) -> Matrices:
    """One of pyotc's examples, as its tutorials set it up."""
    import networkx
    from pyotc.examples import edge_awareness, lollipops, wheel
    from pyotc.examples.stochastic_block_model import stochastic_block_model
    from pyotc.otc_backend.graph.utils import adj_to_trans, get_degree_cost

    kind, _, size = instance.partition("-")
    if kind == "edges":
        graphs = {"1": edge_awareness.graph_1, "3": edge_awareness.graph_3}
        cost = {"1": edge_awareness.c21, "3": edge_awareness.c23}[size]
        pair = networkx.to_numpy_array(edge_awareness.graph_2), networkx.to_numpy_array(graphs[size])
        return adj_to_trans(pair[0]), adj_to_trans(pair[1]), cost
    if kind == "blocks":
        np.random.seed(1000)  # noqa: NPY002 - pyotc's generator draws from numpy's global state
        blocks = (int(size) // 4,) * 4
        probabilities = np.where(np.eye(4) > 0, WITHIN, BETWEEN)
        first, second = (_connected(stochastic_block_model(blocks, probabilities)) for _ in range(2))
    elif kind == "lollipops":
        first, second = (networkx.to_numpy_array(graph) for graph in (lollipops.lollipop_1, lollipops.lollipop_2))
    else:
        first, second = (
            networkx.to_numpy_array(graph) for graph in (wheel.wheel_1, {"2": wheel.wheel_2, "3": wheel.wheel_3}[size])
        )
    return adj_to_trans(first), adj_to_trans(second), get_degree_cost(first, second)


def _connected(adjacency: Any) -> Any:
    """The graph with a path through all nodes, so that its walk has one recurrent class."""
    path = np.eye(len(adjacency), k=1)
    return np.maximum(adjacency, path + path.T)


def average_task(instance: str, peer: bool) -> Row:
    """CPU seconds and the error of one method."""
    P, Q, cost = matrices(instance)
    low, high = bm.average_distance(P, Q, cost=cost, tol=TRUTH, throw=False).interval
    if not peer:
        chains = bm.MarkovChain(P), bm.MarkovChain(Q)
        found, runs = repeated(lambda: bm.average_distance(*chains, cost=cost))
        value, note = found.distance, f"{len(found.history)} steps"
    else:
        from pyotc import exact_otc

        with limits(TIMEOUT, None), redirect_stdout(io.StringIO()):  # pyotc prints its progress
            (answer, *_), runs = repeated(lambda: exact_otc(P, Q, cost), ENOUGH)
        value, note = answer, "" if answer is not None else "not converged"
    return {
        "pairs": cost.size,
        "cpu": min(run["cpu"] for run in runs),
        "value": value,
        "error": None if value is None else max(low - value, value - high, 0.0) / max(high, SMALL * cost.max()),
        "truth": [low, high],
        "note": note,
    }


def measure(instances: Sequence[str], say: Callable[[str], None]) -> list[Row]:
    """One row per instance and method."""
    rows: list[Row] = []
    for instance in instances:
        for peer in (False, True):
            result = in_fresh_process("average", {"instance": instance, "peer": peer})
            if "status" in result:  # it came to its limit, or crashed
                result = {"cpu": TIMEOUT, "value": None, "error": None, "note": result["status"]}
            rows.append({"instance": instance, "method": "pyotc" if peer else "ours", **result})
            say(f"{instance}, {rows[-1]['method']}: {result['cpu']:.3g} s CPU")
    return rows


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Both methods side by side."""
    body = []
    for instance in dict.fromkeys(row["instance"] for row in rows):
        ours, peer = (
            next(r for r in rows if r["instance"] == instance and r["method"] == m) for m in ("ours", "pyotc")
        )
        body.append(
            [
                instance,
                str(ours["pairs"]),
                digits(ours["cpu"], 3),
                digits(peer["cpu"], 3),
                digits(peer["cpu"] / ours["cpu"], 3),
                _error(ours),
                _error(peer),
            ]
        )
    head = ["", "pairs", "ours, CPU s", "pyotc, CPU s", "ratio", "our error", "pyotc's error"]
    notes = (
        "One thread; the fastest of the repeats, from chains or matrices in memory. Ours includes the certificate,",
        "with its default tolerance 1e-9. Errors are relative, against an interval of width 1e-11; 0: inside it.",
        "Where the distance is less than a thousandth of the largest cost (lollipops: 0), they are relative to that.",
    )
    yield Table("Average costs on pyotc's examples", head, body, notes)


def _error(row: Row) -> str:
    return row["note"] if row["error"] is None else f"{row['error']:.1e}" if row["error"] else "0"
