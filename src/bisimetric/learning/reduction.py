"""The best small chain: descend the exact distance over its kernel, rewards and start.

    minimise  W(model, small)  over  P̂ = softmax(A), r̂, ν̂ = softmax(a),        W the bisimulation metric of the starts

W is piecewise smooth, with kinks where optimal couplings change, so the descent is Adam's: steps of about the same size
in all coordinates, which shrink to nothing and need no line search. Derivatives come with every solve
(`solution.gradient`), and every solve starts from the distances of the one before. The first descents start from
`aggregate`, with plain means and with means weighted by the time that the chain spends in a state; the others from
random clusters around medoids (`starts`), with noise where those came before. In the end the rewards of the best chain
are replaced by medians under its coupling, which is never worse for that coupling. It stops after a fixed number of
steps. The best chain that was met, or that of `aggregate`, gets a certified distance.

References: Kingma & Ba 2015; Ferns, Panangaden & Precup 2004.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.options import seconds_of, whole
from bisimetric._support.viewed import InNotebooks
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.learning.starts import small_chains
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.readers.convert import as_model
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

DESCENT_TOL = 1e-6  # relative gap of the solves on the way
STEP_LENGTH = 0.1  # of the first steps, in logits and in ranges of the rewards
KEEP, KEEP_SQUARE = 0.9, 0.99  # Adam's memory of derivatives and of their squares
NOT_ZERO = 1e-12  # added to Adam's divisors
SPREAD = 1e-3  # probability that a start of a descent shares evenly, so that no logit is infinite
LOGIT_NOISE, REWARD_NOISE = 0.5, 0.05  # where a start came before: in logits, and in ranges of the rewards


class ReductionStep(NamedTuple):
    """One step of a descent, as `on_step` gets it.

    Attributes
    ----------
    descent, step : int
        Which descent, from 0, and which of its steps, from 1.
    distance : float
        Of this step's chain.
    best : float
        The smallest upper bound so far, of all descents.
    """

    descent: int
    step: int
    distance: float
    best: float


@dataclass(frozen=True, slots=True, eq=False)
class Reduction(InNotebooks, Immutable):
    """A small chain close to a large one; `reduce` returns it.

    Attributes
    ----------
    model : MarkovChain
        The small chain, with rewards and a start.
    map : array [n, n_states]
        Rows are distributions: where the small chain is while the original is in a state, by the time that both spend
        together under the optimal coupling; for states that are never visited the nearest one.
    distance, interval : float, (float, float)
        The bisimulation metric between the two chains from their starts, with the factor 1 - γ, and certified bounds.
    """

    model: MarkovChain
    map: Floats = field(repr=False)
    distance: float
    interval: tuple[float, float]

    def __repr__(self) -> str:
        (_, states), (_, distance) = self.facts()
        return f"Reduction({states} states, distance {distance})"

    def facts(self) -> list[tuple[str, str]]:
        """What is known, as names and texts."""
        low, high = self.interval
        states = f"{len(self.map)} -> {self.model.n_states}"
        return [("states", states), ("distance", f"{self.distance:.6g} in [{low:.6g}, {high:.6g}]")]


def reduce(
    model: Any,
    n_states: int,
    *,
    discount: float,
    descents: int = 4,
    steps: int = 300,
    seed: int = 0,
    time_limit: float | None = None,
    on_step: Callable[[ReductionStep], None] | None = None,
) -> Reduction:
    """Find a chain of few states that is as close as possible to a given one.

    The distance from the starts is minimised itself, over kernel, rewards and start of the small chain. It has many
    local minima; the result is the best one that was found, and never farther than the chain of `aggregate`.

    Parameters
    ----------
    model : MarkovChain, or anything that `as_chain` takes
        With rewards. Without a start it starts uniformly.
    n_states : int
        Of the small chain.
    discount : float in [0, 1)
    descents : int, default 4
        How many descents: two from `aggregate`, the others from random clusters of states.
    steps : int, default 300
        Of each descent; one exact solve each.
    seed : int, default 0
        The same seed gives the same chain.
    time_limit : float, optional
        Seconds after which no further step is made; the best chain so far is returned.
    on_step : function, optional
        Called with a `ReductionStep` after every step.

    Returns
    -------
    Reduction
        The small chain, the soft map between the states, and the certified distance.

    Raises
    ------
    InvalidChain
        The model cannot be read, or has no rewards.
    InvalidOption
        An option is out of range, or the model is a decision process.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.environments.random_sparse_chain(12, 3, seed=1).with_start(0)
    >>> found = bm.reduce(chain, 4, discount=0.9, descents=1, steps=20)
    >>> found.model.n_states, found.map.shape
    (4, (12, 4))
    """
    chain = _checked_model(model)
    gamma = checked_discount(discount)
    for value, name, least in ((descents, "descents", 0), (steps, "steps", 1), (seed, "seed", 0)):
        whole(value, name, at_least=least)
    limit = seconds_of(time_limit)
    deadline = np.inf if limit is None else time.perf_counter() + limit
    random = np.random.default_rng(seed)
    starts = small_chains(chain, n_states, gamma, random)
    small, seen = next(starts)
    best = _Best(_solved(chain, small, gamma), small)
    for descent in range(descents):
        if time.perf_counter() > deadline:
            break
        objective = _Objective(chain, n_states, gamma, best)
        small, seen = next(starts) if descent else (small, seen)
        point = objective.point_of(small)
        if seen:
            noise = np.full(point.size, LOGIT_NOISE)
            noise[objective.rewards] = REWARD_NOISE
            point += noise * random.normal(size=point.size)
        _descend(objective, point, steps, deadline, descent, on_step)
    final = _solved(chain, best.chain, gamma, None)
    return Reduction(best.chain, frozen(_soft_map(final)), final.distance, final.interval)


def _checked_model(model: Any) -> MarkovChain:
    chain = as_model(model)
    if isinstance(chain, MDP):
        raise InvalidOption("the model is a decision process, expected a chain; mdp.under(policy) makes one")
    if chain.reward is None:
        raise InvalidChain("the chain has no reward, by which states are compared; give it one: reward=...")
    return chain if chain.start is not None else chain.with_start(np.full(chain.n_states, 1.0 / chain.n_states))


def _solved(
    chain: MarkovChain, small: MarkovChain, gamma: float, tol: float | None = DESCENT_TOL, initial: Floats | None = None
) -> Solution:
    return solve(Problem(chain, small, discount=gamma, normalised=True), tol=tol, initial=initial, throw=False)


class _Best:
    """The best chain so far."""

    def __init__(self, solution: Solution, chain: MarkovChain) -> None:
        self.distance = solution.interval[1]  # certified: what replaces it is closer for sure
        self.chain = chain

    def offer(self, solution: Solution, chain: MarkovChain) -> None:
        if solution.interval[1] < self.distance:
            self.distance, self.chain = solution.interval[1], chain


class _Objective:
    """The distance as a function of free numbers: logits of the kernel, rewards in units of their range, logits."""

    def __init__(self, chain: MarkovChain, n_states: int, gamma: float, best: _Best) -> None:
        assert chain.reward is not None
        self._chain, self._gamma, self._best = chain, gamma, best
        self._size = n_states
        self._unit = float(np.ptp(chain.reward)) or 1.0
        self._last: Solution | None = None
        self.rewards = slice(n_states * n_states, n_states * n_states + n_states)

    def point_of(self, small: MarkovChain) -> Floats:
        """The numbers of a chain, with its zeros made positive."""
        assert small.reward is not None
        assert small.start is not None
        laws = np.vstack([small.transitions.toarray(), small.start])
        logits = np.log((1.0 - SPREAD) * laws + SPREAD / self._size)
        return np.concatenate([logits[:-1].ravel(), small.reward / self._unit, logits[-1]])

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """The distance at a point, and its derivatives; both in units of the rewards' range."""
        k = self._size
        logits = np.vstack([point[: k * k].reshape(k, k), point[k * k + k :]])
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        laws = weights / weights.sum(axis=1, keepdims=True)
        small = MarkovChain(laws[:-1], reward=point[self.rewards] * self._unit, start=laws[-1])
        guess = None if self._last is None else self._last.value
        solution = self._last = _solved(self._chain, small, self._gamma, DESCENT_TOL, guess)
        self._best.offer(solution, small)
        gradient = solution.gradient()
        assert gradient.target_reward is not None
        assert gradient.target_start is not None
        slopes = np.vstack([gradient.target.toarray(), gradient.target_start])
        slopes = laws * (slopes - (laws * slopes).sum(axis=1, keepdims=True)) / self._unit
        return solution.distance, np.concatenate([slopes[:-1].ravel(), gradient.target_reward, slopes[-1]])

    def with_medians(self) -> None:
        """Offer the best chain with the rewards that cost least under its coupling: medians of those met there."""
        assert self._chain.reward is not None
        small = self._best.chain
        visits = _solved(self._chain, small, self._gamma).coupling.occupancy()
        order = np.argsort(self._chain.reward, kind="stable")
        mass = np.cumsum(visits[order], axis=0)
        middle = (mass >= 0.5 * mass[-1]).argmax(axis=0)
        other = MarkovChain(small.transitions, reward=self._chain.reward[order][middle], start=small.start)
        self._best.offer(_solved(self._chain, other, self._gamma), other)

    @property
    def best(self) -> float:
        """The smallest distance so far."""
        return self._best.distance


def _descend(
    objective: _Objective,
    point: Floats,
    steps: int,
    deadline: float,
    descent: int,
    on_step: Callable[[ReductionStep], None] | None,
) -> None:
    """Adam with steps that shrink linearly."""
    mean, square = np.zeros(point.size), np.zeros(point.size)
    for step in range(1, steps + 1):
        if time.perf_counter() > deadline:
            return
        distance, slope = objective(point)
        if on_step is not None:
            on_step(ReductionStep(descent, step, distance, objective.best))
        mean = KEEP * mean + (1.0 - KEEP) * slope
        square = KEEP_SQUARE * square + (1.0 - KEEP_SQUARE) * slope * slope
        size = np.sqrt(square / (1.0 - KEEP_SQUARE**step)) + NOT_ZERO
        point = point - STEP_LENGTH * (1.0 - step / (steps + 1)) * mean / (1.0 - KEEP**step) / size
    objective.with_medians()


def _soft_map(solution: Solution) -> Floats:
    """[n, k], the law of the small chain's state while the large one is in a state."""
    visits = solution.coupling.occupancy()
    mass = visits.sum(axis=1)
    nearest = np.zeros(visits.shape)
    nearest[np.arange(len(nearest)), solution.value.argmin(axis=1)] = 1.0
    seen = mass > 0.0
    nearest[seen] = visits[seen] / mass[seen, None]
    return nearest
