"""One problem of the campaign: two chains and a question about them, with the truth in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

import bisimetric as bm
from tests.campaign import oracles
from tests.campaign.kinds import DISCOUNTS, KINDS, RARE_REWARDS, REWARDS, drawn
from tests.campaign.oracles import Costs, Ratio, Row

UNIT = 2.0**-53
SMALLEST = 2.0**-1074
ROOM = 1.5  # factor on the gap from rounding at a perfect value: the gap that a solver may need
WIDE_ROOM = 9.0  # the same for an answer without a tolerance
LABELS = ("a", "b", "c")
MOST_PAIRS = 400  # where couplings are forced and the truth is a closed form
MOST_ITSELF = 20
LONG_PATH = 150
LONGEST_PATH = 1200
FEW_STATES = 3  # most problems have no more a side


@dataclass(eq=False)
class Case:
    """A question; everything else follows from it."""

    name: str  # seed and number
    kind: str
    about: str  # kinds of both chains and of the rewards
    source: bm.MarkovChain
    target: bm.MarkovChain
    discount: float
    cost: np.ndarray | None  # None for the gap between rewards
    normalised: bool
    stop: np.ndarray | None
    random: np.random.Generator = field(repr=False)

    @cached_property
    def problem(self) -> bm.Problem:
        return bm.Problem(
            self.source,
            self.target,
            discount=self.discount,
            cost=self.cost,
            normalised=self.normalised,
            stop=self.stop,
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.n_states, self.target.n_states

    @cached_property
    def rows(self) -> tuple[list[Row], list[Row]]:
        return oracles.rows_of(self.source.transitions), oracles.rows_of(self.target.transitions)

    @cached_property
    def costs(self) -> Costs:
        """The cost that was asked for, without rounding."""
        if self.cost is None:
            given = oracles.reward_gaps(self.source.reward, self.target.reward)
        else:
            given = oracles.whole(self.cost.ravel())
        return oracles.normalised(given, self.discount) if self.normalised else given

    @cached_property
    def solution(self) -> bm.Solution:
        """By the default solver."""
        return bm.solve(self.problem, throw=False)

    @cached_property
    def truth(self) -> list[Ratio]:
        """V*, flat."""
        return oracles.distances(
            *self.rows,
            self.costs,
            self.discount,
            stop=None if self.stop is None else self.stop.ravel().tolist(),
            hint=_finite(self.solution.value),
        )

    @cached_property
    def metric(self) -> list[Ratio]:
        """The bisimulation metric between the two chains, for any question."""
        if self.cost is None and self.normalised and self.stop is None:
            return self.truth
        return self.metric_of(self.source, self.target)

    def metric_of(self, source: bm.MarkovChain, target: bm.MarkovChain) -> list[Ratio]:
        """The bisimulation metric between any two chains, at this discount."""
        gaps = oracles.normalised(oracles.reward_gaps(source.reward, target.reward), self.discount)
        return oracles.distances(
            oracles.rows_of(source.transitions), oracles.rows_of(target.transitions), gaps, self.discount
        )

    @property
    def is_small(self) -> bool:
        """Whether systems over all pairs can be solved in whole numbers, forced or not."""
        n, m = self.shape
        return n * m <= 16

    def __repr__(self) -> str:
        n, m = self.shape
        asked = "rewards" if self.cost is None else "array"
        more = f"{', normalised' if self.normalised else ''}{'' if self.stop is None else ', stop'}"
        return f"{n} x {m} states, {self.about}, discount {self.discount!r}, cost {asked}{more}"


def rounding_gap(
    largest_cost: float, largest_value: float, discount: float, successors: int, row_error: float = 0.0
) -> float:
    """The relative gap of a certificate from rounding alone, at the fixed point.

    Both bounds are widened by (S + 5)·u·(|c| + γ|V|), the lower one with potentials up to twice V instead of V, and for
    the errors of rows; all of it is multiplied by 1/(1-γ).
    """
    if largest_value == 0.0:
        return 0.0
    ratio = largest_cost / largest_value
    sums = (successors + 5) * UNIT * (2 * ratio + 3 * discount)
    denormal = 8 * SMALLEST / largest_value  # costs and bounds are multiples of this
    return (sums + 2 * discount * row_error + denormal) / (1.0 - discount)


def solvable(case: Case, tol: float) -> bool:
    """Whether V* can be certified within `tol` despite rounding."""
    largest = max(map(float, case.truth))
    chains = case.source, case.target
    successors = sum(int(np.diff(chain.transitions.indptr).max()) for chain in chains)
    moved = 0.5 * sum(float(chain.row_error.max()) for chain in chains)
    largest_cost = float(Ratio(max(case.costs.above), case.costs.below))
    return ROOM * rounding_gap(largest_cost, largest, case.discount, successors, moved) <= tol


def make_case(seed: int, number: int, kind: str | None = None) -> Case:
    """Problem `number` of a campaign; `kind` is drawn unless it is given."""
    random = np.random.default_rng([seed, number])
    by_chance = drawn(random, {name: known.share for name, known in KINDS.items()})
    kind = by_chance if kind is None else kind
    other = kind if random.random() < 0.6 else str(random.choice(list(KINDS)))
    rewards = drawn(random, {name: RARE_REWARDS.get(name, 1.0) for name in REWARDS})
    n, m = _sizes(random, kind, other)
    source = _chain(random, kind, n, rewards)
    itself = random.random() < 0.15 and n <= (MOST_ITSELF if KINDS[kind].is_function else KINDS[kind].most)
    target = source if itself else _chain(random, other, m, rewards)
    discount = drawn(random, DISCOUNTS)
    cost, stop = _question(random, source, target, itself=itself)
    about = f"{kind} / {'itself' if itself else other}, rewards {rewards}"
    asked = bool(random.random() < 0.4)
    return Case(f"{seed}-{number}", kind, about, source, target, discount, cost, asked, stop, random)


def _sizes(random: np.random.Generator, kind: str, other: str) -> tuple[int, int]:
    """Small, as a rule; where the truth is a closed form, sometimes hundreds of pairs."""
    sides = KINDS[kind], KINDS[other]
    mosts = [side.most if random.random() < 0.3 else min(side.most, FEW_STATES) for side in sides]
    n, m = (int(random.integers(1, most + 1)) for most in mosts)
    functions = [side.is_function for side in sides]
    if random.random() < 0.1:
        if all(functions):
            n, m = (int(size) for size in random.integers(2, 40, 2))
            return n, min(m, MOST_PAIRS // n)
        if kind == "path":
            return int(random.integers(5, LONGEST_PATH if random.random() < 0.1 else LONG_PATH)), 1
    if not all(functions):
        n, m = (min(size, side.most, 6) for size, side in zip((n, m), sides, strict=True))
    return n, m


def _chain(random: np.random.Generator, kind: str, n: int, rewards: str) -> bm.MarkovChain:
    rows = KINDS[kind].rows(random, n)
    law = random.random(n) + 1e-3
    start = law / law.sum() if n <= MOST_ITSELF and random.random() < 0.3 else int(random.integers(n))
    return bm.MarkovChain.normalised(
        rows, reward=REWARDS[rewards](random, n), start=start, labels=random.choice(LABELS, n).tolist()
    )


def _question(
    random: np.random.Generator, source: bm.MarkovChain, target: bm.MarkovChain, *, itself: bool
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """A cost and a stop mask; most questions are about rewards."""
    n, m = source.n_states, target.n_states
    kind = random.random()
    if kind < 0.6:
        return None, None
    if kind < 0.7:
        differ = np.not_equal.outer(source.labels, target.labels)
        return differ.astype(float), differ
    cost = random.random((n, m)) if random.random() < 0.5 else random.integers(0, 3, (n, m)).astype(float)
    if random.random() < 0.3:
        cost *= 10.0 ** random.uniform(-20, 0, (n, m))
    cost *= 10.0 ** random.uniform(-290, 285)
    stop = random.random((n, m)) < 0.3 if random.random() < 0.3 else None
    if itself and random.random() < 0.7:
        cost = np.maximum(cost, cost.T) * (1.0 - np.eye(n))
        stop = None if stop is None else (stop | stop.T) & ~np.eye(n, dtype=bool)
    return cost, stop


def _finite(value: np.ndarray) -> list[float] | None:
    return value.ravel().tolist() if np.isfinite(value).all() else None
