"""A finite Markov decision process: a chain for every way of choosing actions.

Validation happens here and nowhere below. As in a chain, every row sums to one exactly. An action that is not
available in a state has no row there; a self-loop with reward 0 holds its place, and nothing looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import Immutable, SparseField, frozen
from bisimetric._support.text import printable
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain, checked_names, checked_start
from bisimetric.models.rows import (
    ROW_SUM_TOL,
    UNIT_ROUNDOFF,
    Floats,
    as_csr,
    exact_rows,
    finite,
    float_array,
    real_array,
)

if TYPE_CHECKING:
    from bisimetric.solving.optimal import OptimalPolicy

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, init=False)
class MDP(Immutable):
    """A decision process with rewards, and optional start and names; immutable.

    `transitions` is an [A, n, n] array or a sequence of A matrices, dense or sparse, one per action. `rewards`
    is [n, A]. `available` is a bool array [n, A], by default all true; rows and rewards of actions that are not
    available are ignored, whatever they hold. `start` is a state (index or name) or a distribution, `actions` are
    names of the actions.

    >>> import bisimetric as bm
    >>> stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    >>> bm.MDP([stay, go], [[0, 0], [1, 0]], actions=["stay", "go"])
    MDP(2 states, 2 actions, 4 transitions)
    """

    rewards: Floats  # [n, A]
    available: Mask  # [n, A]
    start: Floats | None  # [n], a distribution
    names: tuple[str, ...] | None
    actions: tuple[str, ...] | None
    row_error: Floats = field(repr=False)  # [n, A], 1-norm between the row given, rescaled, and the row stored
    merged: Mask = field(repr=False)  # [n], stands for several states whose rows differ (`quotient`)
    transitions: SparseField[tuple[sparse.csr_array, ...]] = SparseField()  # noqa: RUF009 - A times [n, n], exact rows

    def __init__(
        self,
        transitions: object,
        rewards: object,
        *,
        start: object = None,
        names: Iterable[str] | None = None,
        actions: Iterable[str] | None = None,
        available: object = None,
    ) -> None:
        matrices = _checked_matrices(transitions)
        n_states, n_actions = matrices[0][0].shape[0], len(matrices)
        mask = _checked_available(available, (n_states, n_actions))
        rows = [
            _available_rows(matrix, mask[:, a], f"transitions[{a}]", tol) for a, (matrix, tol) in enumerate(matrices)
        ]
        known_names = checked_names(names, n_states)
        values = {
            "transitions": tuple(matrix for matrix, _ in rows),
            "row_error": frozen(np.stack([error for _, error in rows], axis=1)),
            "merged": frozen(np.zeros(n_states, np.bool_)),
            "rewards": frozen(_checked_rewards(rewards, mask)),
            "available": frozen(mask),
            "start": checked_start(start, n_states, known_names),
            "names": known_names,
            "actions": checked_names(actions, n_actions, what="actions", of="action"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return int(self.rewards.shape[0])

    @property
    def n_actions(self) -> int:
        """The number of actions, available everywhere or not."""
        return int(self.rewards.shape[1])

    def under(self, policy: npt.ArrayLike | Literal["uniform"]) -> MarkovChain:
        """The chain that a policy makes of this process, rewards averaged over its actions.

        Averages are rounded, and the rounded number is the chain's reward: results are about that. It is exact where
        all actions taken pay the same.

        `policy` is an [n, A] array whose rows are distributions over the available actions, one action index
        per state, or "uniform" over the available actions.
        """
        weight = self._checked_policy(policy)
        mixed = sum(
            (sparse.diags_array(weight[:, a]) @ self.transitions[a] for a in range(self.n_actions)),
            start=sparse.csr_array((self.n_states, self.n_states)),
        )
        matrix = sparse.csr_array(mixed)
        matrix.eliminate_zeros()
        chain = MarkovChain(matrix, reward=_averaged(weight, self.rewards), start=self.start, names=self.names)
        mixing = np.where((weight > 0).sum(axis=1) > 1, (self.n_actions + 1) * UNIT_ROUNDOFF, 0.0)
        moved = np.einsum("sa,sa->s", weight, self.row_error) + mixing
        object.__setattr__(chain, "row_error", frozen(chain.row_error + moved))
        object.__setattr__(chain, "merged", self.merged)
        return chain

    def optimal_policy(self, discount: float) -> OptimalPolicy:
        """A best action for every state, and certified bounds on the optimal discounted rewards."""
        from bisimetric.solving.optimal import optimal_policy

        return optimal_policy(self, discount)

    def action_name(self, action: int) -> str:
        """The action's name, or its index as text."""
        return self.actions[action] if self.actions is not None else str(action)

    def action_index(self, action: object) -> int:
        """The index of an action given by index or by name."""
        if isinstance(action, str) and self.actions is not None and action in self.actions:
            return self.actions.index(action)
        if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
            raise InvalidOption(f"action {action!r} is unknown, expected an index or one of the names of the actions")
        if not 0 <= action < self.n_actions:
            raise InvalidOption(
                f"action {int(action)} is out of range, expected an index from 0 to {self.n_actions - 1}"
            )
        return int(action)

    def with_start(self, start: object) -> MDP:
        """The same process with another start (state index, name or distribution)."""
        other = object.__new__(MDP)
        for name in ("transitions", "rewards", "available", "names", "actions", "row_error", "merged"):
            object.__setattr__(other, name, getattr(self, name))
        object.__setattr__(other, "start", checked_start(start, self.n_states, self.names))
        return other

    def _checked_policy(self, policy: object) -> Floats:
        """[n, A], rows exactly as given."""
        shape = self.n_states, self.n_actions
        if isinstance(policy, str):
            if policy != "uniform":
                raise InvalidOption(f"policy is {policy!r}, expected 'uniform', action indices or an array {shape}")
            uniform: Floats = self.available / self.available.sum(axis=1, keepdims=True)
            return uniform
        given = np.asarray(cast(npt.ArrayLike, policy)) if _is_flat(policy) else None
        if given is not None and given.ndim == 1:
            return self._checked_choice(given)
        weight = real_array(policy, "policy", InvalidOption, ndim=2)
        if weight.shape != shape:
            raise InvalidOption(f"policy has shape {weight.shape}, expected {shape}: a row of probabilities per state")
        wrong = np.flatnonzero(~(np.abs(weight.sum(axis=1) - 1.0) <= ROW_SUM_TOL) | (weight < 0).any(axis=1))
        if len(wrong):
            s = int(wrong[0])
            raise InvalidOption(
                f"policy[{s}] is {weight[s].tolist()}, expected probabilities that sum to 1; divide the row by its sum"
            )
        self._refuse_unavailable(weight > 0)
        return weight

    def _checked_choice(self, given: npt.NDArray[np.generic]) -> Floats:
        if given.dtype.kind not in "iu" or len(given) != self.n_states:
            raise InvalidOption(
                f"policy has dtype {given.dtype} and {len(given)} entries, expected {self.n_states} action indices, "
                f"or an array of shape {(self.n_states, self.n_actions)}"
            )
        wrong = np.flatnonzero((given < 0) | (given >= self.n_actions))  # type: ignore[operator]
        if len(wrong):
            s = int(wrong[0])
            raise InvalidOption(f"policy[{s}] is {given[s]}, expected an action index from 0 to {self.n_actions - 1}")
        weight = np.zeros((self.n_states, self.n_actions))
        weight[np.arange(self.n_states), given.astype(np.int64)] = 1.0
        self._refuse_unavailable(weight > 0)
        return weight

    def _refuse_unavailable(self, chosen: Mask) -> None:
        wrong = np.argwhere(chosen & ~self.available)
        if len(wrong):
            s, a = (int(i) for i in wrong[0])
            choices = ", ".join(printable(self.action_name(int(b))) for b in np.flatnonzero(self.available[s]))
            raise InvalidOption(
                f"policy takes action {printable(self.action_name(a))} in state {s}, where it is not available; "
                f"choose among {choices}"
            )

    def __repr__(self) -> str:
        present = [name for name in ("start", "names") if getattr(self, name) is not None]
        used = sum(int(np.diff(matrix.indptr)[self.available[:, a]].sum()) for a, matrix in enumerate(self.transitions))
        extent = f"{self.n_states} states, {self.n_actions} actions, {used} transitions"
        return f"MDP({', '.join([extent, *present])})"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


def _checked_matrices(transitions: object) -> list[tuple[sparse.csr_array, float]]:
    """One canonical matrix per action with its tolerance on row sums."""
    single = sparse.issparse(transitions) or (hasattr(transitions, "__array__") and np.ndim(transitions) != 3)
    if single or not isinstance(transitions, Iterable) or isinstance(transitions, (str, bytes, dict)):
        raise InvalidChain(
            f"transitions is a {type(transitions).__name__} of shape {getattr(transitions, 'shape', '?')}, "
            "expected one n x n matrix per action: an [A, n, n] array or a list of A matrices"
        )
    matrices = [as_csr(matrix, f"transitions[{a}]") for a, matrix in enumerate(transitions)]
    if not matrices:
        raise InvalidChain("transitions is empty, expected one n x n matrix per action")
    n_states = matrices[0][0].shape[0]
    if n_states == 0:
        raise InvalidChain("transitions[0] is empty, expected at least one state")
    for a, (matrix, _) in enumerate(matrices):
        if matrix.shape != (n_states, n_states):
            raise InvalidChain(f"transitions[{a}] has shape {matrix.shape}, expected {(n_states, n_states)}")
    return matrices


def _available_rows(matrix: sparse.csr_array, here: Mask, what: str, tol: float) -> tuple[sparse.csr_array, Floats]:
    """Exact rows of the states where an action is available, self-loops elsewhere; and how far rows moved."""
    if not here.all():
        row = np.repeat(np.arange(len(here)), np.diff(matrix.indptr))
        keep, loops = here[row], np.flatnonzero(~here)
        entries = np.concatenate([matrix.data[keep], np.ones(len(loops))])
        places = np.concatenate([row[keep], loops]), np.concatenate([matrix.indices[keep], loops])
        matrix = sparse.csr_array((entries, places), shape=matrix.shape)
        matrix.sum_duplicates()
    rows = exact_rows(matrix, what, tol)
    return rows.matrix, rows.error


def _checked_available(available: object, shape: tuple[int, int]) -> Mask:
    if available is None:
        return np.ones(shape, np.bool_)
    try:
        mask = np.array(cast(npt.ArrayLike, available))
    except ValueError:
        raise InvalidChain(f"available is ragged, expected a bool array of shape {shape}") from None
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise InvalidChain(
            f"available has dtype {mask.dtype} and shape {mask.shape}, expected bool and {shape}: states by actions"
        )
    stuck = np.flatnonzero(~mask.any(axis=1))
    if len(stuck):
        raise InvalidChain(
            f"no action is available in state {int(stuck[0])}, expected at least one; make one a self-loop"
        )
    return mask


def _checked_rewards(rewards: object, available: Mask) -> Floats:
    shape = available.shape
    if rewards is None:
        raise InvalidChain(f"rewards is missing, expected an array of shape {shape}: states by actions")
    array = float_array(rewards, "rewards", InvalidChain, ndim=2) if np.ndim(_dense(rewards)) == 2 else np.zeros((0, 0))
    if array.shape != shape:
        raise InvalidChain(
            f"rewards has shape {np.shape(_dense(rewards))}, expected {shape}: states by actions; "
            "transpose it, or repeat a reward per state with np.tile(reward[:, None], n_actions)"
        )
    return finite(np.where(available, array, 0.0), "rewards", InvalidChain)


def _averaged(weight: Floats, rewards: Floats) -> Floats:
    """[n], the weighted mean of every row; the same for the same pairs of weight and reward in another order."""
    terms = np.sort(weight * rewards, axis=1)
    mean = np.cumsum(terms, axis=1)[:, -1] / np.cumsum(np.sort(weight, axis=1), axis=1)[:, -1]
    taken = weight > 0.0
    lowest, highest = (np.where(taken, rewards, end) for end in (np.inf, -np.inf))
    return np.clip(mean, lowest.min(axis=1), highest.max(axis=1))


def _dense(given: object) -> npt.ArrayLike:
    """What numpy can find the shape of."""
    try:
        return np.asarray(cast(npt.ArrayLike, given))
    except ValueError:
        raise InvalidChain("rewards is ragged, expected 2 dimensions; give rows of equal length") from None


def _is_flat(policy: object) -> bool:
    try:
        return np.ndim(cast(npt.ArrayLike, policy)) == 1
    except ValueError:
        return False
