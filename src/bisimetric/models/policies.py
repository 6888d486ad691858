"""Policies of a decision process: weights on its actions, and the best ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable
from bisimetric._support.text import printable
from bisimetric._support.viewed import InNotebooks
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import ROW_SUM_TOL, Floats, Mask, as_array, real_array


@dataclass(frozen=True, slots=True, eq=False)
class OptimalPolicy(InNotebooks, Immutable):
    """A policy that is optimal up to `gap`; `MDP.optimal_policy` returns it.

    Attributes
    ----------
    policy : [n] array of int
        The index of the action to take in every state.
    value : [n] array
        The best estimate of the optimal discounted rewards.
    lower, upper : [n] arrays
        Certified bounds: the policy earns at least `lower`, and no policy earns more than `upper`.
    gap : float
        max(upper - lower).

    Examples
    --------
    >>> import bisimetric as bm
    >>> stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    >>> best = bm.MDP([stay, go], [[0, 0], [1, 0]]).optimal_policy(discount=0.5)
    >>> best.policy.tolist(), best.value.round(10).tolist()
    ([1, 0], [1.0, 2.0])
    """

    policy: npt.NDArray[np.int64]
    value: Floats
    lower: Floats
    upper: Floats

    @property
    def gap(self) -> float:
        """The width of the widest interval."""
        return float((self.upper - self.lower).max())

    def __repr__(self) -> str:
        return f"OptimalPolicy({len(self.policy)} states, gap {self.gap:.2g})"


def checked_policy(policy: object, available: Mask, action_name: Callable[[int], str]) -> Floats:
    """[n, A], the probability of every action in every state, exactly as given; `available` is [n, A] too."""
    shape = available.shape
    if isinstance(policy, str):
        if policy != "uniform":
            raise InvalidOption(
                f"policy is {policy!r}, expected 'uniform', action indices or an array {shape}; "
                "mdp.optimal_policy(discount) finds the best"
            )
        uniform: Floats = available / available.sum(axis=1, keepdims=True)
        return uniform
    if callable(policy):
        raise InvalidOption(
            f"policy is a function, expected 'uniform', action indices or an array {shape}; call it for every state: "
            f"[policy(s) for s in range({shape[0]})]"
        )
    if isinstance(policy, OptimalPolicy):
        policy = policy.policy
    given = as_array(policy, "policy", InvalidOption, f"{shape[0]} action indices or an array {shape}")
    weight = _from_indices(given, shape) if given.ndim == 1 else _from_rows(given, shape)
    wrong = np.argwhere((weight > 0) & ~available)
    if len(wrong):
        s, a = (int(i) for i in wrong[0])
        choices = ", ".join(printable(action_name(int(b))) for b in np.flatnonzero(available[s]))
        raise InvalidOption(
            f"policy takes action {printable(action_name(a))} in state {s}, where it is not available; "
            f"choose among {choices}"
        )
    return weight


def _from_rows(given: npt.NDArray[np.generic], shape: tuple[int, ...]) -> Floats:
    weight = real_array(given, "policy", InvalidOption, ndim=2)
    if weight.shape != shape:
        raise InvalidOption(f"policy has shape {weight.shape}, expected {shape}: a row of probabilities per state")
    wrong = np.flatnonzero(~(np.abs(weight.sum(axis=1) - 1.0) <= ROW_SUM_TOL) | (weight < 0).any(axis=1))
    if len(wrong):
        s = int(wrong[0])
        raise InvalidOption(
            f"policy[{s}] is {weight[s].tolist()}, expected probabilities that sum to 1; divide the row by its sum"
        )
    return weight


def _from_indices(given: npt.NDArray[np.generic], shape: tuple[int, ...]) -> Floats:
    n_states, n_actions = shape
    if given.dtype.kind not in "iu" or len(given) != n_states:
        raise InvalidOption(
            f"policy has dtype {given.dtype} and {len(given)} entries, expected {n_states} action indices, "
            f"or an array of shape {shape}"
        )
    wrong = np.flatnonzero((given < 0) | (given >= n_actions))  # type: ignore[operator]
    if len(wrong):
        s = int(wrong[0])
        raise InvalidOption(f"policy[{s}] is {given[s]}, expected an action index from 0 to {n_actions - 1}")
    weight = np.zeros(shape)
    weight[np.arange(n_states), given.astype(np.int64)] = 1.0
    return weight


def mean_rewards(weight: Floats, rewards: Floats) -> Floats:
    """[n], the weighted mean of every row of `rewards`; it does not depend on the order of the actions."""
    terms = np.sort(weight * rewards, axis=1)
    mean = np.cumsum(terms, axis=1)[:, -1] / np.cumsum(np.sort(weight, axis=1), axis=1)[:, -1]
    taken = weight > 0.0
    lowest, highest = (np.where(taken, rewards, end) for end in (np.inf, -np.inf))
    return np.clip(mean, lowest.min(axis=1), highest.max(axis=1))
