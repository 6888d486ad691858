"""A finite Markov decision process, which becomes a chain under a policy.

Only the constructor validates; other code relies on it. As in a chain, every row sums to one exactly. An action that is
not available in a state has a self-loop with reward 0 as its row there; no result depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.content import EqualByContent
from bisimetric._support.frozen import Immutable, changed, frozen
from bisimetric._support.lazy import method_above
from bisimetric._support.stored import Stored
from bisimetric._support.viewed import InNotebooks
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.chain import Label, MarkovChain, checked_labels, checked_names, checked_start, compared_labels
from bisimetric.models.frames import without_frames
from bisimetric.models.policies import OptimalPolicy, checked_policy, mean_rewards
from bisimetric.models.rows import (
    UNIT_ROUNDOFF,
    Floats,
    Mask,
    SparseField,
    as_array,
    as_csr,
    exact_rows,
    finite,
    float_array,
)


@dataclass(frozen=True, eq=False, init=False)
class MDP(EqualByContent, Stored, InNotebooks, Immutable):
    """A finite Markov decision process with rewards, and optional start, names and labels; immutable.

    Processes with equal rows, rewards, available actions, start, names and labels are equal and have equal hashes.

    Parameters
    ----------
    transitions : [A, n, n] array, or sequence of A matrices [n, n]
        One matrix per action, dense or sparse; row s of matrix a is the distribution of the successors of state s
        under action a. Rows sum to one as in a `MarkovChain`.
    rewards : [n, A] array
        The reward of every action in every state.
    start : int, str or [n] array, optional
        The state in which the process starts, by index or name, or a distribution over states.
    names : sequence of n different strings, optional
    actions : sequence of A different strings, optional
        The names of the actions.
    available : [n, A] array of bool, optional
        Which actions each state has, at least one; by default all. Rows and rewards of other actions are ignored; they
        may hold anything.
    labels : sequence of n labels, optional
        One value per state, as in a `MarkovChain`.

    Attributes
    ----------
    transitions : tuple of A scipy.sparse.csr_array, [n, n] each
    rewards : [n, A] array
    available : [n, A] array of bool
    start : [n] array or None
        A distribution, also where a single state was given.
    names, actions : tuple of str, or None
    labels : tuple, or None
    n_states, n_actions : int
    title : str or None
        What the process was read from, for titles of pictures; as in a `MarkovChain`.

    Raises
    ------
    InvalidChain
        The arguments do not describe a decision process; the message says where and what to do.

    Examples
    --------
    >>> import bisimetric as bm
    >>> stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    >>> mdp = bm.MDP([stay, go], [[0, 0], [1, 0]], actions=["stay", "go"])
    >>> mdp
    MDP(2 states, 2 actions, 4 transitions)
    >>> mdp.under("uniform")
    MarkovChain(2 states, 4 transitions, reward)
    """

    rewards: Floats  # [n, A]
    available: Mask  # [n, A]
    start: Floats | None  # [n], a distribution
    names: tuple[str, ...] | None
    actions: tuple[str, ...] | None
    labels: tuple[Label, ...] | None
    row_error: Floats = field(repr=False)  # [n, A], 1-norm between the row given, rescaled, and the row stored
    merged: Mask = field(repr=False)  # [n], stands for several states whose rows differ (`quotient`)
    transitions: SparseField[tuple[sparse.csr_array, ...]] = SparseField()  # noqa: RUF009 - A times [n, n], exact rows
    title: str | None = field(default=None, repr=False)  # as in a `MarkovChain`

    def __init__(
        self,
        transitions: object,
        rewards: object,
        *,
        start: object = None,
        names: Iterable[str] | None = None,
        actions: Iterable[str] | None = None,
        available: object = None,
        labels: Iterable[object] | None = None,
    ) -> None:
        transitions, names = without_frames(transitions, names)
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
            "labels": checked_labels(labels, n_states, known_names),
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

    def under(self, policy: npt.ArrayLike | OptimalPolicy | Literal["uniform"]) -> MarkovChain:
        """Return the chain that a policy makes of this process.

        Parameters
        ----------
        policy : [n, A] array, sequence of n action indices, what `optimal_policy` returns, or "uniform"
            Rows are distributions over the available actions; "uniform" takes all available ones alike.

        Returns
        -------
        MarkovChain
            Its rewards are averages over the actions taken, rounded, and results are about the rounded numbers. The
            average is exact where all actions taken pay the same.

        Raises
        ------
        InvalidOption
            The policy has another shape, is no distribution, or takes an action that is not available.
        """
        weight = checked_policy(policy, self.available, self.action_name)
        mixed = sum(
            (sparse.diags_array(weight[:, a]) @ self.transitions[a] for a in range(self.n_actions)),
            start=sparse.csr_array((self.n_states, self.n_states)),
        )
        matrix = sparse.csr_array(mixed)
        matrix.eliminate_zeros()
        chain = MarkovChain(
            matrix,
            reward=mean_rewards(weight, self.rewards),
            start=self.start,
            names=self.names,
            labels=self.labels,
        )
        mixing = np.where((weight > 0).sum(axis=1) > 1, (self.n_actions + 1) * UNIT_ROUNDOFF, 0.0)
        moved = np.einsum("sa,sa->s", weight, self.row_error) + mixing
        return changed(chain, row_error=chain.row_error + moved, merged=self.merged, title=self.title)

    def optimal_policy(self, discount: float) -> OptimalPolicy:
        """Find a best action for every state, with certified bounds on the optimal discounted rewards.

        Parameters
        ----------
        discount : float in [0, 1)

        Returns
        -------
        OptimalPolicy
            `policy`, `value`, `lower` and `upper`, [n] each.

        Raises
        ------
        SolverFailed
            The values cannot be computed accurately this close to discount 1.
        """
        best: OptimalPolicy = method_above("MDP.optimal_policy")(self, discount)
        return best

    def name_of(self, state: int) -> str:
        """The state's name, or its index as text."""
        return self.names[state] if self.names is not None else str(state)

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
        """Return the same process with another start: a state (index or name) or a distribution [n]."""
        return changed(self, start=checked_start(start, self.n_states, self.names))

    def _arrays(self) -> tuple[npt.NDArray[Any] | None, ...]:
        rows = (part for matrix in self.transitions for part in (matrix.indptr, matrix.indices, matrix.data))
        return self.rewards, self.available, self.start, *rows

    def _words(self) -> tuple[object, ...]:
        return self.rewards.shape, self.names, self.actions, compared_labels(self.labels)

    def __repr__(self) -> str:
        present = [name for name in ("start", "names", "labels") if getattr(self, name) is not None]
        used = sum(int(np.diff(matrix.indptr)[self.available[:, a]].sum()) for a, matrix in enumerate(self.transitions))
        extent = f"{self.n_states} states, {self.n_actions} actions, {used} transitions"
        return f"MDP({', '.join([extent, *present])})"


Model: TypeAlias = MarkovChain | MDP
ModelT = TypeVar("ModelT", MarkovChain, MDP)


def _checked_matrices(transitions: object) -> list[tuple[sparse.csr_array, float]]:
    """One canonical matrix per action with its tolerance on row sums."""
    single = sparse.issparse(transitions) or (
        hasattr(transitions, "__array__")
        and as_array(transitions, "transitions", InvalidChain, "one n x n matrix per action").ndim != 3
    )
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
    _check_order(len(matrices), {matrix.shape for matrix, _ in matrices})
    for a, (matrix, _) in enumerate(matrices):
        if matrix.shape != (n_states, n_states):
            raise InvalidChain(f"transitions[{a}] has shape {matrix.shape}, expected {(n_states, n_states)}")
    return matrices


def _check_order(length: int, shapes: set[tuple[int, int]]) -> None:
    """Raise where the axes of transitions are in another order: [n, A, n] or [n, n, A]."""
    rows, columns = next(iter(shapes))
    axis = {columns: 1, rows: 2}.get(length, 0) if len(shapes) == 1 and rows != columns else 0
    if axis:
        order = "[n, A, n]" if axis == 1 else "[n, n, A]"
        raise InvalidChain(
            f"transitions has shape {(length, rows, columns)}, which looks like {order}, expected [A, n, n]: one "
            f"matrix per action; np.moveaxis(transitions, {axis}, 0) puts the actions first"
        )


def _available_rows(matrix: sparse.csr_array, here: Mask, what: str, tol: float) -> tuple[sparse.csr_array, Floats]:
    """Exact rows of the states where an action is available, self-loops elsewhere; and the errors of the rows."""
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
    mask = as_array(available, "available", InvalidChain, f"a bool array of shape {shape}").copy()
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
    given = as_array(rewards, "rewards", InvalidChain, "2 dimensions")
    if given.shape != shape:
        raise InvalidChain(
            f"rewards has shape {given.shape}, expected {shape}: states by actions; "
            "transpose it, or repeat a reward per state with np.tile(reward[:, None], n_actions)"
        )
    array = float_array(given, "rewards", InvalidChain, ndim=2)
    return finite(np.where(available, array, 0.0), "rewards", InvalidChain)
