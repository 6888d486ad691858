"""Decision processes that were estimated from sequences of states and actions, with their counts.

    P[a][x] = N(x, a, ·) / N(x, a),        r(x, a) = mean of the rewards seen there

An action is available where it was taken and something followed. A state in which that never happened is absorbing
under every action, without reward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import frozen
from bisimetric.errors import InvalidChain
from bisimetric.models.estimated import SequenceCounts, filled_rows, mean_reward
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Ints, Mask, SparseField


@dataclass(frozen=True, eq=False, init=False, kw_only=True)
class EstimatedMDP(MDP):
    """A decision process estimated from sequences; it keeps its counts. `from_trajectories(..., action=...)` makes one.

    It is an `MDP` wherever one is taken.

    Parameters
    ----------
    sequences : SequenceCounts
        What every sequence contributes, with rewards per state and action.
    taken : [T] array
        The action of every transition.
    names, actions : sequences of str
    notes : sequence of str
        What reading the data decided.

    Attributes
    ----------
    counts : tuple of A csr_array [n, n] of int64
        How often each transition was seen, for every action.
    visits : [n, A] array
        How often each action was taken in each state and something followed.
    start_counts : [n] array
        How many sequences start in each state.
    unseen : [n] array of bool
        States without data; they are absorbing.
    n_sequences, n_transitions : int
    notes : tuple of str
        What was decided about the data, in words.

    Raises
    ------
    InvalidChain
        There is no transition.
    """

    sequences: SequenceCounts
    start_counts: Ints  # [n]
    unseen: Mask  # [n]
    notes: tuple[str, ...]
    counts: SparseField[tuple[sparse.csr_array, ...]] = SparseField()  # noqa: RUF009 - A times [n, n] of int64

    def __init__(
        self,
        sequences: SequenceCounts,
        taken: Ints,
        names: Sequence[str],
        actions: Sequence[str],
        *,
        notes: Sequence[str] = (),
    ) -> None:
        total = sequences.totals()
        n, n_actions = sequences.n_states, len(actions)
        if not len(sequences.source):
            raise InvalidChain("the sequences hold no transition, expected at least one of two steps; give longer ones")
        counts = []
        for action in range(n_actions):
            here = taken == action
            places = sequences.source[here], sequences.target[here]
            matrix = sparse.csr_array((total.counts[here].astype(np.int64), places), shape=(n, n))
            matrix.sum_duplicates()
            counts.append(matrix)
        visits = np.stack([np.asarray(matrix.sum(axis=1)) for matrix in counts], axis=1)
        unseen: Mask = np.asarray(visits.sum(axis=1) == 0)
        reward = mean_reward(total)
        assert reward is not None
        super().__init__(
            [filled_rows(matrix, 0.0, np.zeros(n, np.bool_)) for matrix in counts],
            np.where(unseen[:, None], 0.0, reward.reshape(n, n_actions)),
            start=total.starts / total.starts.sum(),
            names=names,
            actions=actions,
            available=(visits > 0) | unseen[:, None],
            labels=names,
        )
        told = f"{int(unseen.sum())} of {n} states never left: absorbing, without reward"
        values = {
            "sequences": sequences,
            "start_counts": frozen(total.starts),
            "unseen": frozen(unseen),
            "notes": (*notes, told) if unseen.any() else tuple(notes),
            "counts": tuple(counts),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def visits(self) -> Ints:
        """[n, A], how often each action was taken in each state and something followed."""
        return np.stack([np.asarray(matrix.sum(axis=1)) for matrix in self.counts], axis=1)

    @property
    def n_sequences(self) -> int:
        """How many sequences there are."""
        return len(self.sequences)

    @property
    def n_transitions(self) -> int:
        """How many transitions were seen, all together."""
        return int(sum(matrix.sum() for matrix in self.counts))

    def __repr__(self) -> str:
        seen = f"{self.n_transitions} transitions, {self.n_sequences} sequences"
        return f"EstimatedMDP({self.n_states} states, {self.n_actions} actions, {seen})"
