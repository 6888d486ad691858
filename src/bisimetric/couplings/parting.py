"""The most likely way on which two coupled models part.

Under a coupling the two models move together along pairs of states p0, p1, …, with the probabilities b(p0) of a start
and Π(p, p') of a move. They part at the first pair that costs something. A way to such a pair has the weight

    w = γᵏ · b(p0) · Π(p0, p1) ··· Π(p(k-1), p(k)),

its probability if each step is the last one with probability 1-γ. Times the distances from there on, the weights of all
ways add up to the distance between the starts:

    W = Σ w · V(p(k)).

So every way has a share of the distance, and a likely but late one, which the distance hardly sees, is not preferred to
an early one. Without a discount a weight is a probability. Pairs that cost next to nothing do not count.

A way with the largest weight is a shortest path, where a move has the length -log(γ·Π(p, p')). Dijkstra's algorithm,
backwards from all pairs that cost something, finds the length h(p) of the way from each pair on. The way itself follows
moves with h(p) = length + h(p'), the first of those that are equally good. It ends because every length is positive:
`LENGTH_OF_A_STEP` is added, which also prefers few steps where weights are equal.

Reference: Han, Katoen & Damman 2009, who call this the strongest evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy import sparse

from bisimetric._support import memory
from bisimetric._support.text import printable, text_table
from bisimetric._support.viewed import InNotebooks, PlottedPath
from bisimetric.couplings.joint_walk import JointWalk
from bisimetric.models.chain import compared_labels, label_text
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats, Ints

NEXT_TO_NOTHING = 1e-9  # a cost, relative to the largest one that is met, up to which two states do not part
LENGTH_OF_A_STEP = 1e-9  # added to -log of every probability
EQUALLY_LONG = 1e-11  # difference of two lengths that may be rounding
MOVES_AFTERWARDS = 5  # that are shown after the parting
MOST_MOMENTS = 24  # that are printed
BYTES_PER_SEARCHED_MOVE, BYTES_PER_SEARCHED_PAIR = 16, 120  # of the graph backwards, and of the search


@dataclass(frozen=True, slots=True)
class Moment:
    """Where two coupled models are at one time.

    Attributes
    ----------
    states : (int, int)
        The states of the source and of the target.
    source, target : str
        Their names.
    probability : float
        Of the move to this pair, from the pair before; at time 0 of this start.
    cost : float
        Cost of the pair as it was given, without the factor 1-γ of a normalised problem.
    distance : float
        The distance from this pair on, `solution.value[states]`.
    actions : (str, str) or None
        The names of the decisive actions of the two states, between decision processes.
    """

    states: tuple[int, int]
    source: str
    target: str
    probability: float
    cost: float
    distance: float
    actions: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class JointPath(InNotebooks, PlottedPath):
    """The most likely way on which two coupled models part, and how they go on; printed, it is a table.

    Attributes
    ----------
    moments : tuple of Moment
        Where the models are at the times 0, 1, 2, …: up to the parting, then along the most likely moves for a few more
        steps, until they stop or repeat themselves.
    parting : int or None
        The time at which a pair costs something for the first time; None if that never happens.
    probability : float
        Of the way up to the parting.
    amount : float
        What this way contributes to the distance: γ^parting · probability · the distance from the parting on.
    share : float
        amount / distance, from 0 to 1.
    difference : str
        What differs at the parting: rewards, labels, or the cost.
    models : (model, model)
        The two models, for pictures.

    Examples
    --------
    >>> import bisimetric as bm
    >>> one = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0, names=["idle", "busy"])
    >>> other = bm.MarkovChain([[0.8, 0.2], [0, 1]], reward=[0, 1], start=0, names=["idle", "busy"])
    >>> path = bm.distance(one, other, discount=0.5).explain().path
    >>> path.parting, round(path.probability, 9), round(path.share, 9)
    (1, 0.3, 0.75)
    >>> path.difference
    'rewards 1 and 0'
    """

    moments: tuple[Moment, ...]
    parting: int | None
    probability: float
    amount: float
    share: float
    difference: str
    models: tuple[Model, Model] = field(repr=False, compare=False)

    def head(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        actions = ("source action", "target action") if any(m.actions for m in self.moments) else ()
        return "step", "source", "target", *actions, "chance", "cost", "distance"

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table as text, one row per moment, the middle of a long way left out."""
        rows = [
            (
                str(time),
                printable(moment.source),
                printable(moment.target),
                *map(printable, moment.actions or ()),
                f"{moment.probability:.4g}",
                f"{moment.cost:.4g}",
                f"{moment.distance:.6g}",
            )
            for time, moment in enumerate(self.moments)
        ]
        if len(rows) <= MOST_MOMENTS:
            return rows
        half = MOST_MOMENTS // 2
        return [*rows[:half], ("…",) * len(rows[0]), *rows[-half:]]

    def summary(self) -> str:
        """When the two part, how likely that is, and what it costs, in one line."""
        if self.parting is None:
            return "the two never part"
        if self.parting == 0:
            return f"they differ from the start on: {self.difference}"
        steps = f"{self.parting} step{'' if self.parting == 1 else 's'}"
        return (
            f"they part after {steps}: {self.difference}; this way has probability {self.probability:.4g} "
            f"and makes {self.share:.1%} of the distance"
        )

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\n{self.summary()}"


def most_likely_parting(walk: JointWalk, distance: float) -> JointPath:
    """The way with the largest weight to a pair that costs something, and how the two go on."""
    cost, law = walk.cost.ravel(), walk.law.ravel()
    met = np.where(walk.occupancy.ravel() > 0.0, cost, 0.0)
    costly = met > NEXT_TO_NOTHING * met.max()
    begin = np.flatnonzero(law)
    way, parting = [int(begin[_first_best(-law[begin])])], None
    if costly.any():
        length = _lengths(walk, costly)
        first = _first_best(length[begin] - np.log(law[begin]))
        if math.isfinite(length[begin[first]]):
            way = _follow(walk.moves, length, int(begin[first]), walk.discount)
            parting = len(way) - 1
    probability = float(law[way[0]]) * math.prod(map(float, _probabilities(walk.moves, way)))
    amount = 0.0
    if parting is not None:
        amount = walk.discount**parting * probability * float(walk.value.ravel()[way[-1]])
    whole = _with_more_moves(walk.moves, way)
    chances = [float(law[whole[0]]), *_probabilities(walk.moves, whole)]
    moments = tuple(_moment(walk, pair, chance) for pair, chance in zip(whole, chances, strict=True))
    return JointPath(
        moments,
        parting,
        probability,
        amount,
        min(amount / distance, 1.0) if distance else 0.0,
        "" if parting is None else difference_at(walk, moments[parting]),
        walk.models,
    )


def _lengths(walk: JointWalk, costly: Floats) -> Floats:
    """[n·m], the length of the shortest way to a costly pair, inf where there is none."""
    if walk.discount == 0.0:  # nothing after the start counts
        return np.where(costly, 0.0, np.inf)
    from scipy.sparse import csgraph

    moves = walk.moves
    memory.require(
        BYTES_PER_SEARCHED_MOVE * moves.nnz + BYTES_PER_SEARCHED_PAIR * costly.size,
        "the search for the most likely way to part",
        "choose pairs='reachable', or the quotients of the two models",
    )
    backwards = moves.T.tocsr()
    backwards.eliminate_zeros()
    backwards.data = _length(backwards.data, walk.discount)
    lengths: Floats = csgraph.dijkstra(backwards, indices=np.flatnonzero(costly), min_only=True)
    return lengths


def _length(probability: Floats, discount: float) -> Floats:
    return -np.log(probability) - math.log(discount) + LENGTH_OF_A_STEP


def _follow(moves: sparse.csr_array, length: Floats, pair: int, discount: float) -> list[int]:
    """The shortest way from a pair on; its rest becomes shorter by more than rounding with every move."""
    way = [pair]
    while length[way[-1]] > 0.0:
        successors, probability = _row(moves, way[-1])
        way.append(int(successors[_first_best(_length(probability, discount) + length[successors])]))
    return way


def _with_more_moves(moves: sparse.csr_array, way: list[int]) -> list[int]:
    """The way and the most likely moves after it, until they stop, repeat themselves or are many."""
    whole = list(way)
    for _ in range(MOVES_AFTERWARDS):
        successors, probability = _row(moves, whole[-1])
        if not len(successors):
            break
        following = int(successors[_first_best(-np.log(probability))])
        if following in whole:
            break
        whole.append(following)
    return whole


def _row(moves: sparse.csr_array, pair: int) -> tuple[Ints, Floats]:
    """The pairs that follow, in order, and their probabilities."""
    span = slice(moves.indptr[pair], moves.indptr[pair + 1])
    successors, probability = moves.indices[span], moves.data[span]
    order = np.argsort(successors, kind="stable")
    order = order[probability[order] > 0.0]
    return successors[order], probability[order]


def _first_best(length: Floats) -> int:
    """The first of the smallest numbers, up to rounding."""
    return int(np.argmax(length <= length.min() + EQUALLY_LONG))


def _probabilities(moves: sparse.csr_array, way: list[int]) -> list[float]:
    """The probability of every move of a way."""
    found = []
    for pair, following in pairwise(way):
        successors, probability = _row(moves, pair)
        found.append(float(probability[successors == following].sum()))
    return found


def _moment(walk: JointWalk, pair: int, chance: float) -> Moment:
    x, y = divmod(pair, walk.cost.shape[1])
    numbers = chance, walk.given_cost(x, y), float(walk.value[x, y])
    return Moment((x, y), *walk.names(x, y), *numbers, walk.action_names(x, y))


def difference_at(walk: JointWalk, moment: Moment) -> str:
    """What differs between the two states of a moment, in words: labels, rewards, else the cost alone."""
    said = []
    source, target = (model.labels for model in walk.models)
    if source is not None and target is not None:
        x, y = moment.states
        if compared_labels([source[x]]) != compared_labels([target[y]]):
            said.append(f"labels {label_text(source[x])} and {label_text(target[y])}")
    mine, theirs = (_reward(walk, side, moment.states) for side in (0, 1))
    if mine is not None and theirs is not None and mine != theirs:
        said.append(f"rewards {mine:.6g} and {theirs:.6g}")
    return ", ".join(said) or f"a cost of {moment.cost:.6g}"


def _reward(walk: JointWalk, side: int, states: tuple[int, int]) -> float | None:
    """The reward of the source (side 0) or of the target, under its decisive action."""
    model, state = walk.models[side], states[side]
    if isinstance(model, MDP):
        assert walk.actions is not None
        return float(model.rewards[state, walk.actions[states][side]])
    return None if model.reward is None else float(model.reward[state])
