"""35 instances of four rooms: does the distance tell how a reward is reached?

The instances have the same rewards but different obstacles and starts, and follow their optimal policies. The exact
distances between all pairs are computed, placed in three dimensions by multidimensional scaling (MDS), and merged into
a tree (average linkage). The paper's message: clusters appear, by how the nearest reward is reached from the start: in
the same room, through one door or two, or not at all. Here this kind is computed from the chain, as the number of
doors (states with a negative reward) on a shortest way to a positive one, and numbers say how well the distance
separates the kinds:

    within, between    mean distance inside a kind and between kinds
    silhouette         mean over instances of (b - a)/max(a, b), where a is the mean distance to the others of the
                       kind and b that to the nearest other kind (Rousseeuw 1987): 1 is perfect, 0 no separation
    accuracy           share of instances whose nearest other instance is of the same kind
    confusion          for each kind, the kinds of the nearest other instances, counted

The authors' instances can be read from a folder (`--instances`, instance_files.py). Without one, ours are the first
seeds of `four-rooms-obstacles` that give the wanted number for each kind; instances with three doors, which are rare,
are left out. Finished pairs are kept in the folder `instances-store`, so that an interrupted run can continue.

Paper: Figure 5; its γ is not known, ours is 0.95, as in the authors' script for folders of instances.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.environments import four_rooms_obstacles
from bisimetric.environments.obstacles import obstacle_map
from bisimetric.experiments.experiment import Experiment, Record, ResultData, Table, Workplace
from bisimetric.experiments.instance_files import NamedInstance, read_instances
from bisimetric.experiments.instance_pictures import draw_instances
from bisimetric.many.pairwise import pairwise
from bisimetric.many.table_run import PairDone
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import embed

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME = "instances"
STORE = "instances-store"
BY_DOORS = {0: "same room", 1: "one door", 2: "two doors", None: "unreachable"}  # by doors to the nearest reward
MORE_DOORS = "more doors"
ORDER = (*BY_DOORS.values(), MORE_DOORS)
TOL = 1e-10  # relative gap of a distance


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; `wanted` is the number of our instances of each kind, in the order of `BY_DOORS`."""

    discount: float = 0.95
    folder: str | None = None  # the authors' instances, or others
    wanted: tuple[int, int, int, int] = (11, 10, 7, 7)
    n_jobs: int = 1
    mds_seed: int = 0


def run(config: Config, workplace: Workplace) -> ResultData:
    """The instances, their distances, and how well these separate the kinds."""
    workplace.say("drawing instances" if config.folder is None else "reading instances")
    chosen = list(_ours(config.wanted)) if config.folder is None else read_instances(config.folder)
    kinds = [kind_of(instance.chain) for instance in chosen]

    def on_pair(pair: PairDone) -> None:
        workplace.say(f"pair {pair.done} of {pair.total}")

    distances = pairwise(
        [instance.chain for instance in chosen],
        discount=config.discount,
        tol=TOL,
        n_jobs=config.n_jobs,
        store=workplace.folder / STORE,
        on_pair=on_pair,
    )
    embedding = embed(distances, seed=config.mds_seed)
    return {
        "instances": [
            {"name": instance.name, "kind": kind, "states": instance.chain.n_states, "map": instance.map}
            for instance, kind in zip(chosen, kinds, strict=True)
        ],
        "distances": distances.value.tolist(),
        "gap": distances.gap,
        "separation": separation(distances.value, kinds),
        "mds": {
            "scikit-learn": version("scikit-learn"),
            "stress": embedding.stress,
            "points": embedding.points.tolist(),
        },
    }


def _ours(wanted: Sequence[int]) -> Iterator[NamedInstance]:
    """The first seeds that give the wanted numbers."""
    missing = Counter(dict(zip(BY_DOORS.values(), wanted, strict=True)))
    for seed in count():
        if not missing.total():
            return
        chain = four_rooms_obstacles(seed=seed)
        kind = kind_of(chain)
        if missing[kind] > 0:
            missing[kind] -= 1
            yield NamedInstance(f"seed {seed}", chain, obstacle_map(seed).split("\n"))


def kind_of(chain: MarkovChain) -> str:
    """How the nearest reward is reached from the start."""
    return BY_DOORS.get(doors_to_reward(chain), MORE_DOORS)


def doors_to_reward(chain: MarkovChain) -> int | None:
    """The fewest doors on a shortest way from a start to a reward; None if no reward can be reached."""
    assert chain.start is not None
    assert chain.reward is not None
    after, reward = chain.transitions, chain.reward
    queue = [(0, 0, int(state)) for state in np.flatnonzero(chain.start)]  # steps, doors, state
    seen: set[int] = set()
    while queue:
        steps, doors, state = heappop(queue)
        if reward[state] > 0.0:
            return doors
        if state not in seen:
            seen.add(state)
            for other in after.indices[after.indptr[state] : after.indptr[state + 1]].tolist():
                heappush(queue, (steps + 1, doors + int(reward[other] < 0.0), other))
    return None


def separation(distances: Floats, kinds: Sequence[str]) -> dict[str, Any]:
    """How well distances separate kinds; the module docstring explains the numbers. None where one is not defined."""
    labels = np.array(kinds)
    same = labels[:, None] == labels
    apart = ~np.eye(len(labels), dtype=np.bool_)
    names = list(dict.fromkeys(kinds))
    to_kind = np.stack([_mean_to(distances, labels == name) for name in names], axis=1)  # [N, kinds]
    own = np.array([names.index(name) for name in kinds])
    inside = to_kind[np.arange(len(own)), own]
    others = to_kind.copy()
    others[np.arange(len(own)), own] = np.inf
    nearest_kind = others.min(axis=1)
    nearest = np.where(apart, distances, np.inf).argmin(axis=1)
    return {
        "within": _mean(distances[same & apart]),
        "between": _mean(distances[~same]),
        "silhouette": _mean(_silhouettes(inside, nearest_kind, same.sum(axis=1))) if len(names) > 1 else None,
        "accuracy": _mean(labels[nearest] == labels),
        "chance": float((same & apart).sum() / apart.sum()),
        "confusion": {name: dict(Counter(labels[nearest][labels == name].tolist())) for name in names},
        "by_kind": {
            name: {
                "count": int((labels == name).sum()),
                "within": _mean(inside[labels == name]),
                "to_nearest_other": _mean(nearest_kind[labels == name]) if len(names) > 1 else None,
                "accuracy": _mean((labels[nearest] == labels)[labels == name]),
            }
            for name in names
        },
    }


def _silhouettes(inside: Floats, nearest: Floats, count: Any) -> Floats:
    """(b - a)/max(a, b), and 0 for an instance that is alone in its kind or where all distances are 0."""
    larger = np.maximum(nearest, inside)
    defined = (count > 1) & (larger > 0.0)
    found: Floats = np.where(defined, (nearest - inside) / np.where(defined, larger, 1.0), 0.0)
    return found


def _mean(values: Any) -> float | None:
    return float(np.mean(values)) if np.size(values) else None


def _mean_to(distances: Floats, members: Any) -> Floats:
    """The mean distance of each instance to the members other than itself, [N]."""
    others = members.sum() - members
    mean: Floats = distances[:, members].sum(axis=1) / np.maximum(others, 1)
    return mean


def draw(record: Record) -> Mapping[str, Figure]:
    """The embedding with some points named, the maps of those points, and the tree of all."""
    return {NAME: draw_instances(record, ORDER)}


def tables(record: Record) -> Sequence[Table]:
    """How well the distance separates the kinds, and the kinds of the nearest instances."""
    result = record["result"]
    found = result["separation"]
    kinds = sorted(found["by_kind"], key=ORDER.index)
    parts = [(kind, found["by_kind"][kind]) for kind in kinds]
    body = [
        [kind, str(part["count"]), _number(part["within"]), _number(part["to_nearest_other"])] for kind, part in parts
    ]
    nearest = [[kind, *(str(found["confusion"][kind].get(other, 0)) for other in kinds)] for kind in kinds]
    title = f"{len(result['instances'])} instances, by how the nearest reward is reached"
    return [
        Table(
            f"{title}, γ = {record['config']['discount']:g}",
            ["", "count", "mean distance within", "to the nearest kind"],
            body,
            (
                f"Mean distance within kinds {_number(found['within'])}, between {_number(found['between'])}; "
                f"silhouette {_number(found['silhouette'])}; stress of the MDS {result['mds']['stress']:.3f}.",
            ),
        ),
        Table(
            "The kind of the nearest other instance",
            ["", *kinds],
            nearest,
            (f"The same kind for {100 * found['accuracy']:.0f} % ({100 * found['chance']:.0f} % by chance).",),
        ),
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def summary(record: Record) -> dict[str, Any]:
    """How well the distance separates the kinds."""
    separated: dict[str, Any] = record["result"]["separation"]
    return separated


EXPERIMENT = Experiment(NAME, (NAME,), Config(), Config(), run, draw, tables, summary)
