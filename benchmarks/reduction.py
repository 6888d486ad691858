"""How close the small chains of `reduce` are beside those of `aggregate`, by their number of states.

Distances are certified: a lower bound for aggregate and an upper bound for reduce. Seconds are CPU seconds of one
search with the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import bisimetric as bm
from benchmarks.measure import timed
from benchmarks.tables import Row, Table, digits

REDUCED = {
    "4-rooms": (4, 6, 8, 10),
    "karate club": (3, 4, 6, 8),
    "random": (4, 6, 8, 10),
    "four-rooms:p1": (4, 6, 8, 10),
}
QUICK_REDUCED = {"random": (4,)}
REDUCTION_DISCOUNT = {"4-rooms": 0.95, "karate club": 0.9, "random": 0.9, "four-rooms:p1": 0.95}


def reduced_model(kind: str) -> bm.MarkovChain:
    """The chain to be reduced."""
    if kind == "4-rooms":
        return bm.environments.four_rooms(side=6, shortest_path=0.3)
    if kind == "four-rooms:p1":
        return bm.as_chain(kind)
    if kind == "random":
        return bm.environments.random_sparse_chain(30, 3, seed=1).with_start(0)
    import networkx as nx

    graph = nx.karate_club_graph()
    club = [float(graph.nodes[node]["club"] == "Mr. Hi") for node in graph]
    return bm.MarkovChain(bm.from_networkx(graph).transitions, reward=club, start=0)


def reduction(kind: str, n_states: int) -> Row:
    """The distances of both small chains, certified, and the seconds of the search."""
    model, discount = reduced_model(kind), REDUCTION_DISCOUNT[kind]
    small = bm.aggregate(model, n_states=n_states, discount=discount).model
    before = bm.distance(model, small, discount=discount, normalised=True)
    found, seconds = timed(lambda: bm.reduce(model, n_states, discount=discount))
    return {
        "model": kind, "states": model.n_states, "n_states": n_states, "discount": discount,
        "aggregate": before.interval[0], "reduce": found.interval[1], "cpu": seconds["cpu"],
    }  # fmt: skip


def measure(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """One row for each model and number of states."""
    rows: list[Row] = []
    for kind, sizes in (QUICK_REDUCED if quick else REDUCED).items():
        for size in sizes:
            rows.append(reduction(kind, size))
            say(f"{kind} {size}: {rows[-1]['aggregate'] / rows[-1]['reduce']:.2f} times closer")
    return rows


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """One table."""
    body = [
        [f"{row['model']}, {row['states']} states", str(row["n_states"]), f"{row['discount']:g}",
         digits(row["aggregate"], 3), digits(row["reduce"], 3), f"{row['aggregate'] / row['reduce']:.2f}",
         digits(row["cpu"])]
        for row in rows
    ]  # fmt: skip
    notes = ["Certified: a lower bound for aggregate, an upper bound for reduce, so ratios hold for sure."]
    head = ["", "n_states", "discount", "aggregate", "reduce", "times closer", "CPU s"]
    yield Table("Distances of small chains to the original", head, body, notes)
