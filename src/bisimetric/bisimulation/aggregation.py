"""A smaller model that behaves nearly like a given one, with a guarantee.

Let d be the bisimulation metric of the model: for chains the distance with the cost (1-γ)|r - r'|, for decision
processes the worst of it over the actions. States are merged by complete linkage (`clusters`), which keeps the largest
d inside a cluster as small as it greedily can, until the next merger would exceed `epsilon` or until `n_states`
clusters are left. The small model has the mean row and the mean reward of each cluster, for every action, and its
certified distance to the original is then computed: d(s, t) between a state s of one model and t of the other. With v
the discounted sum of rewards, or the optimal one,

    (1-γ)·|v(s) - v̂(t)|  ≤  d(s, t),

for chains because v(s) - v̂(t) = E Σ γᵏ (r - r̂) under any coupling, so its size is at most the coupling's cost; for
decision processes because the best action of one model can be taken in the other. Hence both bounds below, which hold
whatever the clusters are.

States with different actions are never merged. Between them d is R, the largest reward less the smallest, which no
two optimal values can exceed, so that the inequality holds there too (`_with_all_actions`).

An optimal policy of the small model is one for the original: in s do what is best in map[s]. What that policy loses
is measured: two certified solves bound the optimal rewards from above and the policy's rewards from below.

References: Ferns, Panangaden & Precup 2004; Taylor, Precup & Panangaden 2008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Generic, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.options import as_float, shown
from bisimetric.bisimulation.classes import check_model, same_actions
from bisimetric.bisimulation.clusters import clustered, mean_chain, mean_mdp
from bisimetric.bisimulation.quotient import Model
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.partition import Classes
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.problems.game import Game
from bisimetric.readers.convert import as_mdp
from bisimetric.solving.solve import solve

ROUNDINGS = 1.0 + 2.0**-50  # four of them, outwards


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation(Immutable, Generic[Model]):
    """A small model, the small state of every state, and how far the two models are apart at most."""

    model: Model
    map: Classes = field(repr=False)  # [n]
    distance_bound: float  # d(s, map[s]) is at most this for every s; d with the factor 1-γ
    value_bound: float  # |v(s) - v̂(map[s])| is at most this for every s

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._facts())})"

    def _facts(self) -> list[str]:
        return [
            f"{len(self.map)} -> {self.model.n_states} states",
            f"distance at most {self.distance_bound:.3g}",
            f"values within {self.value_bound:.3g}",
        ]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MDPAggregation(Aggregation[MDP]):
    """The same for decision processes; v are the optimal rewards. The small model's best policy, and what it loses."""

    policy: npt.NDArray[np.int64]  # [n], an action for every state of the original, optimal in the small model
    policy_loss: float  # in no state does it earn less than the optimum less this

    def _facts(self) -> list[str]:
        return [*super(MDPAggregation, self)._facts(), f"policy loses at most {self.policy_loss:.3g}"]


@overload
def aggregate(
    model: MarkovChain, *, epsilon: float | None = None, n_states: int | None = None, discount: float
) -> Aggregation[MarkovChain]: ...


@overload
def aggregate(
    model: MDP, *, epsilon: float | None = None, n_states: int | None = None, discount: float
) -> MDPAggregation: ...


def aggregate(
    model: MarkovChain | MDP, *, epsilon: float | None = None, n_states: int | None = None, discount: float
) -> Aggregation[MarkovChain] | MDPAggregation:
    """Merge states that are within `epsilon` of one another in the bisimulation metric, or down to `n_states` states.

    A cluster has the name of its first state; labels are kept if no cluster mixes them. States of a decision process
    are merged only where they have the same actions.

    >>> import bisimetric as bm
    >>> rooms = bm.environments.four_rooms(side=8)
    >>> bm.aggregate(rooms, epsilon=0.01, discount=0.9).model.n_states < rooms.n_states
    True
    >>> found = bm.aggregate(bm.environments.four_rooms_mdp(side=8, slip=0.2), n_states=60, discount=0.9)
    >>> found.model.n_states, found.policy_loss < found.value_bound
    (60, True)
    """
    check_model(model)
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
    if isinstance(model, MDP):
        return _of_mdp(model, kinds, epsilon, n_states, gamma)
    itself = solve(Problem(model, model, discount=gamma, normalised=True)).upper
    merged = clustered(np.minimum(itself, itself.T), kinds, epsilon, n_states)
    small = mean_chain(model, merged)
    between = solve(Problem(model, small, discount=gamma, normalised=True)).upper
    return Aggregation(small, frozen(merged), *_bounds(between, merged, gamma))


def _of_mdp(mdp: MDP, kinds: Classes, epsilon: float | None, n_states: int | None, gamma: float) -> MDPAggregation:
    best = mdp.optimal_policy(gamma)
    whole = _with_all_actions(mdp, kinds)
    itself = solve(Game(whole, whole, discount=gamma)).upper
    merged = clustered(np.minimum(itself, itself.T), kinds, epsilon, n_states)
    small = mean_mdp(mdp, merged)
    between = solve(Game(whole, mean_mdp(whole, merged), discount=gamma)).upper
    policy = small.optimal_policy(gamma).policy[merged]
    earned = as_mdp(mdp.under(policy)).optimal_policy(gamma).lower
    loss = _outwards(float((best.upper - earned).max()))
    return MDPAggregation(small, frozen(merged), *_bounds(between, merged, gamma), frozen(policy), loss)


def _with_all_actions(mdp: MDP, kinds: Classes) -> MDP:
    """All actions in all states, with the same distances inside a kind of states; between kinds they are R.

    A missing action is a self-loop with the smallest reward; it costs γ·d(s, t) between states of a kind, so it never
    decides. Further actions, self-loops too, pay the smallest or the largest reward by the binary digits of the kind:
    where a digit differs, d = (1-γ)·R + γ·d.
    """
    if not kinds.any():
        return mdp
    rewards = mdp.rewards[mdp.available]
    lowest, highest = rewards.min(), rewards.max()
    digits = kinds[:, None] >> np.arange(int(kinds.max()).bit_length()) & 1
    loops = [sparse.eye_array(mdp.n_states, format="csr")] * digits.shape[1]
    paid = np.where(mdp.available, mdp.rewards, lowest)
    whole = MDP([*mdp.transitions, *loops], np.hstack([paid, np.where(digits == 1, highest, lowest)]))
    object.__setattr__(whole, "row_error", frozen(np.hstack([mdp.row_error, np.zeros(digits.shape)])))
    object.__setattr__(whole, "merged", mdp.merged)
    return whole


def _bounds(between: Floats, merged: Classes, gamma: float) -> tuple[float, float]:
    """On the distances and on the values, from upper bounds on the distances between the two models."""
    distance = _outwards(float(between[np.arange(len(merged)), merged].max()))
    return distance, _outwards(distance / (1.0 - gamma))


def _outwards(bound: float) -> float:
    """A little more, for the roundings of the cost, of 1-γ and of a division; a zero is exact."""
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
