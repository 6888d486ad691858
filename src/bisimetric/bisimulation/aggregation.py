"""A smaller model that behaves nearly like a given one, with a guarantee.

Let d be the bisimulation metric of the model: for chains the distance with the cost (1-γ)|r - r'|, for decision
processes its maximum over the actions. States are merged by complete linkage (`clusters`), which greedily keeps the
largest d inside a cluster small, until the next merger would exceed `epsilon` or until `n_states` clusters are left.
The small model has the mean row and the mean reward of each cluster, for every action. Then its certified distance to
the original is computed: d(s, t) between a state s of one model and t of the other. With v the discounted sum of
rewards, or the optimal one,

    (1-γ)·|v(s) - v̂(t)|  ≤  d(s, t),

for chains because v(s) - v̂(t) = E Σ γᵏ (r - r̂) under any coupling, so its size is at most the coupling's cost; for
decision processes because the best action of one model can be taken in the other. The two bounds below follow, for any
clusters.

States with different actions are never merged. Between them d is R, the largest reward minus the smallest.
(1-γ)·|v(s) - v̂(t)| is never larger, so the inequality holds there too (`_with_all_actions`).

An optimal policy of the small model gives one for the original: in s take the action that is best in map[s]. Two
certified solves measure the loss: they bound the optimal rewards from above and the policy's rewards from below.

References: Ferns, Panangaden & Precup 2004; Taylor, Precup & Panangaden 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Generic, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import Immutable, changed, frozen
from bisimetric._support.lazy import method_above
from bisimetric._support.options import as_float, seconds_of, shown
from bisimetric._support.threads import require_time, within
from bisimetric._support.viewed import InNotebooks, PlottedAggregation
from bisimetric.bisimulation.classes import same_actions
from bisimetric.bisimulation.clusters import cluster_states, mean_chain, mean_mdp
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP, ModelT
from bisimetric.models.partition import Classes
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.problems.game import Game
from bisimetric.readers.convert import as_mdp, as_model
from bisimetric.solving.solution import Answer
from bisimetric.solving.solve import solve

ROUNDINGS = 1.0 + 2.0**-50  # factor that covers four roundings


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation(InNotebooks, PlottedAggregation, Immutable, Generic[ModelT]):
    """A smaller model, and how far it is from the original at most; `aggregate` returns it.

    Attributes
    ----------
    model : MarkovChain or MDP
        The small model.
    map : [n] array of int
        The state of the small model that each state of the original is merged into.
    distance_bound : float
        d(s, map[s]) is at most this for every state s, where d is the bisimulation metric with the factor 1 - γ.
    value_bound : float
        |v(s) - v̂(map[s])| is at most this for every state s; v and v̂ are the discounted rewards of the two models.
    original : MarkovChain or MDP
        The model whose states were merged.
    discount : float
        γ, with which distances and values are discounted.
    distances : [k, k] array
        Upper bounds on d between the first states of the clusters, in the order of the small model's states.
    """

    model: ModelT
    map: Classes = field(repr=False)
    distance_bound: float
    value_bound: float
    original: ModelT = field(repr=False)
    discount: float
    distances: Floats = field(repr=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(' '.join, self.facts()))})"

    def facts(self) -> list[tuple[str, str]]:
        """What is known, as names and texts."""
        return [
            ("states", f"{len(self.map)} -> {self.model.n_states}"),
            ("distance", f"at most {self.distance_bound:.3g}"),
            ("values", f"within {self.value_bound:.3g}"),
        ]

    def report(self, path: object, *, names: str | None = None, command: str | None = None) -> None:
        """Write a page to look at: both models drawn, which states go together, and what the bounds mean.

        One file that needs no network and opens in a browser by double click. The same answer gives the same file.

        Parameters
        ----------
        path : str or path
            An `.html` file. It appears complete or not at all; an existing file is replaced.
        names : str, optional
            The name of the model.
        command : str, optional
            The command that made the small model, for the last part of the page.

        Raises
        ------
        InvalidOption
            If the path does not end in `.html`.
        FileFormatError
            If the file cannot be written.
        MissingExtra
            If vl-convert-python or networkx is missing: `pip install 'bisimetric[plot]'`.

        Examples
        --------
        >>> import bisimetric as bm, os, tempfile
        >>> found = bm.aggregate("four-rooms:p1", n_states=12, discount=0.9)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.report(os.path.join(folder, "small.html"), names="4-rooms")
        ...     os.listdir(folder)
        ['small.html']
        """
        method_above("Aggregation.report")(self, path, names=names, command=command)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MDPAggregation(Aggregation[MDP]):
    """A smaller decision process, its best policy, and what that policy loses in the original.

    Attributes
    ----------
    model, map, distance_bound, value_bound, original, discount, distances
        As in `Aggregation`; v and v̂ are the optimal discounted rewards of the two processes.
    policy : [n] array of int
        For every state of the original the action that is optimal in the small model.
    policy_loss : float
        In every state of the original the policy earns at least the optimum less this.
    """

    policy: npt.NDArray[np.int64]
    policy_loss: float

    def facts(self) -> list[tuple[str, str]]:
        """What is known, as names and texts."""
        return [*super(MDPAggregation, self).facts(), ("policy", f"loses at most {self.policy_loss:.3g}")]


@overload
def aggregate(
    model: MarkovChain,
    *,
    epsilon: float | None = None,
    n_states: int | None = None,
    discount: float,
    time_limit: float | None = None,
) -> Aggregation[MarkovChain]: ...


@overload
def aggregate(
    model: MDP,
    *,
    epsilon: float | None = None,
    n_states: int | None = None,
    discount: float,
    time_limit: float | None = None,
) -> MDPAggregation: ...


@overload
def aggregate(
    model: Any,
    *,
    epsilon: float | None = None,
    n_states: int | None = None,
    discount: float,
    time_limit: float | None = None,
) -> Aggregation[MarkovChain] | MDPAggregation: ...


def aggregate(
    model: Any,
    *,
    epsilon: float | None = None,
    n_states: int | None = None,
    discount: float,
    time_limit: float | None = None,
) -> Aggregation[MarkovChain] | MDPAggregation:
    """Merge states that behave nearly alike, and bound what that changes.

    Parameters
    ----------
    model : MarkovChain, MDP, or anything that `as_chain` or `as_mdp` takes
        A chain has rewards. States of a decision process are merged only where they have the same actions.
    epsilon : float ≥ 0, optional
        The largest distance between merged states, in the bisimulation metric with the factor 1 - γ. Give this or
        `n_states`.
    n_states : int, optional
        The number of states of the small model.
    discount : float in [0, 1)
    time_limit : float, optional
        Seconds after which to give up; the block of work under way comes on top.

    Returns
    -------
    Aggregation or MDPAggregation
        The small model, whose rows and rewards are the means over the merged states, and certified bounds. A state of
        it has the name of the first state merged into it; labels are kept where no merged states differ in them.

    Raises
    ------
    InvalidChain
        The model cannot be read, or is a chain without rewards.
    InvalidOption
        Both or neither of `epsilon` and `n_states` are given, or one is out of range.
    SolverFailed
        The bounds are not known before `time_limit`.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = bm.environments.four_rooms(side=8)
    >>> bm.aggregate(rooms, epsilon=0.01, discount=0.9).model.n_states < rooms.n_states
    True
    >>> found = bm.aggregate(bm.environments.four_rooms_mdp(side=8, slip=0.2), n_states=60, discount=0.9)
    >>> found.model.n_states, found.policy_loss < found.value_bound
    (60, True)
    """
    model = as_model(model)
    if isinstance(model, MarkovChain) and model.reward is None:
        raise InvalidChain("the chain has no reward, by which states are compared; give it one: reward=...")
    if (epsilon is None) == (n_states is None):
        given = "neither" if epsilon is None else "both"
        raise InvalidOption(f"{given} of epsilon and n_states given, expected one: how close, or how many")
    kinds = same_actions(model) if isinstance(model, MDP) else np.zeros(model.n_states, np.int64)
    if epsilon is not None:
        _check_epsilon(epsilon)
    if n_states is not None:
        _check_n_states(n_states, int(kinds.max()) + 1, model.n_states)
    gamma = checked_discount(discount)
    with within(seconds_of(time_limit), f"aggregating {model.n_states} states"):
        if isinstance(model, MDP):
            return _of_mdp(model, kinds, epsilon, n_states, gamma)
        itself = _in_time(solve(Problem(model, model, discount=gamma, normalised=True)))
        merged = cluster_states(np.minimum(itself, itself.T), kinds, epsilon, n_states)
        small = mean_chain(model, merged)
        between = _in_time(solve(Problem(model, small, discount=gamma, normalised=True)))
    bounds, apart = _bounds(between, merged, gamma), _between_clusters(itself, merged)
    return Aggregation(small, frozen(merged), *bounds, model, gamma, apart)


def _in_time(solution: Answer) -> Floats:
    """The upper bounds of a solution; raises `OutOfTime` where the deadline came first."""
    require_time()
    return solution.upper


def _of_mdp(mdp: MDP, kinds: Classes, epsilon: float | None, n_states: int | None, gamma: float) -> MDPAggregation:
    best = mdp.optimal_policy(gamma)
    whole = _with_all_actions(mdp, kinds)
    itself = _in_time(solve(Game(whole, whole, discount=gamma)))
    merged = cluster_states(np.minimum(itself, itself.T), kinds, epsilon, n_states)
    small = mean_mdp(mdp, merged)
    between = _in_time(solve(Game(whole, mean_mdp(whole, merged), discount=gamma)))
    policy = small.optimal_policy(gamma).policy[merged]
    earned = as_mdp(mdp.under(policy)).optimal_policy(gamma).lower
    loss = _outwards(float((best.upper - earned).max()))
    bounds, apart = _bounds(between, merged, gamma), _between_clusters(itself, merged)
    return MDPAggregation(small, frozen(merged), *bounds, mdp, gamma, apart, frozen(policy), loss)


def _with_all_actions(mdp: MDP, kinds: Classes) -> MDP:
    """A process with all actions in all states: distances inside a kind of states stay the same, others become R.

    A missing action becomes a self-loop with the smallest reward; between states of one kind it contributes γ·d(s, t)
    to the maximum, which is never decisive. One more self-loop per binary digit of the kind's number pays the smallest
    or the largest reward: where the digit differs, d = (1-γ)·R + γ·d, so d = R.
    """
    if not kinds.any():
        return mdp
    rewards = mdp.rewards[mdp.available]
    lowest, highest = rewards.min(), rewards.max()
    digits = kinds[:, None] >> np.arange(int(kinds.max()).bit_length()) & 1
    loops = [sparse.eye_array(mdp.n_states, format="csr")] * digits.shape[1]
    paid = np.where(mdp.available, mdp.rewards, lowest)
    whole = MDP([*mdp.transitions, *loops], np.hstack([paid, np.where(digits == 1, highest, lowest)]))
    return changed(whole, row_error=np.hstack([mdp.row_error, np.zeros(digits.shape)]), merged=mdp.merged)


def _bounds(between: Floats, merged: Classes, gamma: float) -> tuple[float, float]:
    """Bounds on the distances and on the values, from upper bounds on the distances between the two models."""
    distance = _outwards(float(between[np.arange(len(merged)), merged].max()))
    return distance, _outwards(distance / (1.0 - gamma))


def _between_clusters(itself: Floats, merged: Classes) -> Floats:
    """[k, k], upper bounds on the distances between the first states of the clusters."""
    first = np.unique(merged, return_index=True)[1]
    apart = np.minimum(itself, itself.T)[np.ix_(first, first)]
    np.fill_diagonal(apart, 0.0)
    return frozen(apart)


def _outwards(bound: float) -> float:
    """The bound, enlarged for the roundings of the cost, of 1-γ and of a division; a zero is exact."""
    return math.nextafter(bound * ROUNDINGS, math.inf) if bound > 0.0 else 0.0


def _check_epsilon(epsilon: object) -> None:
    if not 0.0 <= as_float(epsilon) < math.inf:
        raise InvalidOption(
            f"epsilon is {shown(epsilon)}, expected a number ≥ 0: the largest distance inside a cluster"
        )


def _check_n_states(n_states: object, fewest: int, most: int) -> None:
    whole = isinstance(n_states, (int, np.integer)) and not isinstance(n_states, bool)
    if not whole or not fewest <= int(n_states) <= most:  # type: ignore[call-overload]
        why = f"; no fewer, as {fewest} kinds of states have different actions" if fewest > 1 else ""
        raise InvalidOption(
            f"n_states is {shown(n_states)}, expected a whole number from {fewest} to {most}, as the model has{why}"
        )
