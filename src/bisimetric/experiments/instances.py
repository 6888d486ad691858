"""35 instances of four rooms: does the distance tell how a reward is reached?

The instances have the same rewards but different obstacles and starts, and follow their optimal policies. The exact
distances between all pairs are computed and placed in three dimensions by multidimensional scaling (MDS). The paper's
message: clusters appear, by how the nearest reward is reached from the start: in the same room, through one door or
two, or not at all. Here this class is computed from the map, as the number of doors on a shortest way, and numbers say
how well the distance separates the classes:

    within, between    mean distance inside a class and between classes
    silhouette         mean over instances of (b - a)/max(a, b), where a is the mean distance to the others of the
                       class and b that to the nearest other class (Rousseeuw 1987): 1 is perfect, 0 no separation
    accuracy           share of instances whose nearest other instance is of the same class

How the paper's instances were made is not known. Ours are the first seeds of `four-rooms-obstacles` that give the
wanted number for each class; instances with three doors, which are rare, are left out. Finished pairs are kept in the
folder `instances-store`, so that an interrupted run can continue.

Paper: Figure 5; its γ is not known, ours is 0.95.
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
from bisimetric.environments.layout import DOOR, GOAL, START, WALL, Layout, read_map
from bisimetric.environments.obstacles import obstacle_map
from bisimetric.experiments.experiment import Experiment, Record, Result, Table, Workplace
from bisimetric.many.pairwise import PairDone, pairwise
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import Embedding, embed

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME = "instances"
STORE = "instances-store"
WAYS = {0: "same room", 1: "one door", 2: "two doors", None: "unreachable"}  # by doors to the nearest reward
ORDER = tuple(WAYS.values())
TOL = 1e-10  # relative gap of a distance
SHOWN = 3  # instances of each class whose maps are drawn
SIZE, POINTS_WIDTH = (12.0, 5.6), 6.5  # inches; width of the embedding in maps
WHITE = (255, 255, 255)
COLOURS = {WALL: (154, 154, 154), DOOR: (230, 159, 0), GOAL: (0, 158, 115), START: (0, 114, 178)}  # Okabe & Ito 2008


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; `wanted` is the number of instances in each class, in the order of `WAYS`."""

    discount: float = 0.95
    wanted: tuple[int, int, int, int] = (11, 10, 7, 7)
    n_jobs: int = 1
    mds_seed: int = 0


def run(config: Config, workplace: Workplace) -> Result:
    """The instances, their distances, and how well these separate the classes."""
    workplace.say("drawing instances")
    chosen = list(_instances(config.wanted))
    chains = [four_rooms_obstacles(seed=instance["seed"]) for instance in chosen]

    def on_pair(pair: PairDone) -> None:
        workplace.say(f"pair {pair.done} of {pair.total}")

    distances = pairwise(
        chains, discount=config.discount, tol=TOL, n_jobs=config.n_jobs, store=workplace.folder / STORE, on_pair=on_pair
    )
    ways = [instance["way"] for instance in chosen]
    embedding = embed(distances, seed=config.mds_seed)
    return {
        "instances": [{**instance, "states": chain.n_states} for instance, chain in zip(chosen, chains, strict=True)],
        "distances": distances.value.tolist(),
        "gap": distances.gap,
        "separation": separation(distances.value, ways),
        "mds": {
            "scikit-learn": version("scikit-learn"),
            "stress": embedding.stress,
            "points": embedding.points.tolist(),
        },
    }


def _instances(wanted: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Seed, map and class of the first seeds that give the wanted numbers."""
    missing = Counter(dict(zip(ORDER, wanted, strict=True)))
    for seed in count():
        if not missing.total():
            return
        drawn = obstacle_map(seed)
        way = WAYS.get(doors_to_reward(read_map(drawn)))
        if way is not None and missing[way] > 0:
            missing[way] -= 1
            yield {"seed": seed, "map": drawn.split("\n"), "way": way}


def doors_to_reward(layout: Layout) -> int | None:
    """The fewest doors on a shortest way from the start to a reward; None if no reward can be reached."""
    beside = layout.neighbours()  # [4, n]
    assert layout.start is not None
    queue = [(0, 0, layout.start)]  # steps, doors, state
    seen: set[int] = set()
    while queue:
        steps, doors, state = heappop(queue)
        if layout.goals[state]:
            return doors
        if state not in seen:
            seen.add(state)
            for other in beside[:, state].tolist():
                if other >= 0:
                    heappush(queue, (steps + 1, doors + int(layout.doors[other]), other))
    return None


def separation(distances: Floats, groups: Sequence[str]) -> dict[str, Any]:
    """How well distances separate groups of at least two instances; the module docstring explains the numbers."""
    labels = np.array(groups)
    same = labels[:, None] == labels
    apart = ~np.eye(len(labels), dtype=np.bool_)
    names = list(dict.fromkeys(groups))
    to_group = np.stack([_mean_to(distances, labels == name) for name in names], axis=1)  # [N, groups]
    own = np.array([names.index(name) for name in groups])
    inside = to_group[np.arange(len(own)), own]
    others = to_group.copy()
    others[np.arange(len(own)), own] = np.inf
    nearest_group = others.min(axis=1)
    nearest = np.where(apart, distances, np.inf).argmin(axis=1)
    return {
        "within": float(distances[same & apart].mean()),
        "between": float(distances[~same].mean()),
        "silhouette": float(((nearest_group - inside) / np.maximum(nearest_group, inside)).mean()),
        "accuracy": float((labels[nearest] == labels).mean()),
        "chance": float((same & apart).sum() / apart.sum()),
        "by_class": {
            name: {
                "count": int((labels == name).sum()),
                "within": float(inside[labels == name].mean()),
                "to_nearest_other": float(nearest_group[labels == name].mean()),
                "accuracy": float((labels[nearest] == labels)[labels == name].mean()),
            }
            for name in names
        },
    }


def _mean_to(distances: Floats, members: Any) -> Floats:
    """The mean distance of each instance to the members other than itself, [N]."""
    others = members.sum() - members
    mean: Floats = distances[:, members].sum(axis=1) / np.maximum(others, 1)
    return mean


def draw(record: Record) -> Mapping[str, Figure]:
    """The embedding with some points named, and beside it the maps of those points, one row per class."""
    from bisimetric import plot
    from bisimetric.views.figures import new_figure

    result, config = record["result"], record["config"]
    instances = result["instances"]
    # Points are drawn in the order of the classes, so that the legend is in that order too.
    order = sorted(range(len(instances)), key=lambda k: ORDER.index(instances[k]["way"]))
    distances = np.array(result["distances"])[np.ix_(order, order)]
    embedding = Embedding(np.array(result["mds"]["points"])[order], result["mds"]["stress"])
    ways = [instances[k]["way"] for k in order]
    figure = new_figure(SIZE)
    panels = figure.add_gridspec(len(ORDER), 1 + SHOWN, width_ratios=[POINTS_WIDTH] + [1] * SHOWN)
    names: dict[int, str] = {}  # by place in `order`
    for row, (letter, way) in enumerate(zip("ABCD", ORDER, strict=True)):
        for column, place in enumerate(_typical(distances, ways, way)):
            names[place] = f"{letter}{column + 1}"
            axes = figure.add_subplot(panels[row, 1 + column])
            axes.imshow(map_image(instances[order[place]]["map"]), interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            axes.set_title(names[place] + (f": {way}" if column == 0 else ""), loc="left", fontsize="small")
    plot.mds(
        embedding,
        groups=ways,
        names=[names.get(place) for place in range(len(order))],
        title=f"{len(ways)} instances of 4-rooms, by how the nearest reward is reached, γ = {config['discount']:g}\n"
        "in the maps: start blue, rewards green, doors orange",
        axes=figure.add_subplot(panels[:, 0]),
    )
    return {NAME: figure}


def _typical(distances: Floats, ways: Sequence[str], way: str) -> list[int]:
    """Some instances of a class: the one in its middle, then those farthest from the ones already taken."""
    members = [k for k, found in enumerate(ways) if found == way]
    taken = [min(members, key=lambda k: float(distances[k, members].sum()))]
    while len(taken) < min(SHOWN, len(members)):
        taken.append(max(members, key=lambda k: float(distances[k, taken].min())))
    return taken


def map_image(lines: Sequence[str]) -> Any:
    """A map as an image [rows, columns, 3]: walls grey, doors orange, rewards green, the start blue."""
    return np.array([[COLOURS.get(mark, WHITE) for mark in line] for line in lines], dtype=np.uint8)


def tables(record: Record) -> Sequence[Table]:
    """How well the distance separates the classes."""
    found = record["result"]["separation"]
    body = [
        [
            way,
            str(part["count"]),
            f"{part['within']:.3f}",
            f"{part['to_nearest_other']:.3f}",
            _percent(part["accuracy"]),
        ]
        for way, part in found["by_class"].items()
    ]
    body.sort(key=lambda row: ORDER.index(row[0]))
    notes = (
        f"Mean distance within classes {found['within']:.3f}, between {found['between']:.3f}; "
        f"silhouette {found['silhouette']:.2f}; stress of the MDS {record['result']['mds']['stress']:.3f}.",
        f"The nearest other instance is of the same class for {_percent(found['accuracy'])} "
        f"({_percent(found['chance'])} by chance).",
    )
    n = len(record["result"]["instances"])
    title = f"{n} instances, by how the nearest reward is reached, γ = {record['config']['discount']:g}"
    head = ["", "count", "mean distance within", "to the nearest class", "nearest is alike"]
    return [Table(title, head, body, notes)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def summary(record: Record) -> dict[str, Any]:
    """How well the distance separates the classes."""
    separated: dict[str, Any] = record["result"]["separation"]
    return separated


EXPERIMENT = Experiment(NAME, (NAME,), Config(), Config(), run, draw, tables, summary)
