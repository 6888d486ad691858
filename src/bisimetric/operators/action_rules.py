"""The rules of a game between decision processes: from numbers on pairs of moves to numbers on pairs of states.

A move is an action in a state. The transports of a game come in blocks, each a full product of source moves and
target moves, and every rule below turns one array per block into one [n, m] array:

    SameActions      max_a D_a(s, t)                              a block per action
    MatchedActions   max( max_a min_b D, max_b min_a D )          one block, all source moves by all target moves

Rules are monotone, and adding a constant to D adds it to the outcome: bounds on D become bounds on the outcome, and
errors of D never grow. The *leader* of a pair is the move that the maximising player picks there; the *decisive* cell
is the pair of moves that determines the outcome then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bisimetric.models.rows import Floats, Ints


class MovePairs(NamedTuple):
    """Some pairs of moves of one block, each with the pair of states it counts for; both flat."""

    pairs: Ints
    cells: Ints


class Rule(Protocol):
    """How a game's outcome depends on its blocks."""

    def outcome(self, blocks: list[Floats]) -> Floats:
        """[n, m]."""
        ...

    def leaders(self, blocks: list[Floats]) -> Ints:
        """[n, m], a best move of the maximising player, by number."""
        ...

    def decisive(self, blocks: list[Floats], leader: Ints) -> list[MovePairs]:
        """The decisive cell of every pair of states when the maximising player plays `leader`, block by block."""
        ...

    def answers(self, blocks: list[Floats]) -> list[MovePairs]:
        """For every move of the maximising player at every pair, the cell of the best answer; at least one a pair."""
        ...

    def spread(self, value: Floats) -> list[Floats]:
        """The value at the states of every pair of moves."""
        ...

    def state_pairs(self, block: int, flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The flat pairs of states that flat pairs of moves of a block stand for."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SameActions:
    """One block per action, whose moves are the states themselves."""

    count: int  # of actions

    def outcome(self, blocks: list[Floats]) -> Floats:
        best = blocks[0].copy()
        for block in blocks[1:]:
            np.maximum(best, block, out=best)
        return best

    def leaders(self, blocks: list[Floats]) -> Ints:
        best, leader = blocks[0].copy(), np.zeros(blocks[0].shape, np.int64)
        for a, block in enumerate(blocks[1:], 1):
            leader[block > best] = a
            np.maximum(best, block, out=best)
        return leader

    def decisive(self, blocks: list[Floats], leader: Ints) -> list[MovePairs]:
        chosen = [np.flatnonzero(leader == a) for a in range(len(blocks))]
        return [MovePairs(pairs, pairs) for pairs in chosen]

    def answers(self, blocks: list[Floats]) -> list[MovePairs]:
        every = np.arange(blocks[0].size)
        return [MovePairs(every, every) for _ in blocks]

    def spread(self, value: Floats) -> list[Floats]:
        return [value] * self.count

    def state_pairs(self, block: int, flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return flat


@dataclass(frozen=True, slots=True, eq=False)
class MatchedActions:
    """One block; the moves of a state are adjacent. As leaders, target moves are numbered after all source moves."""

    source: Ints  # [n + 1], where the moves of a state begin
    target: Ints  # [m + 1]

    def outcome(self, blocks: list[Floats]) -> Floats:
        by_source, by_target = self._answer_costs(blocks[0])
        return np.maximum(
            np.maximum.reduceat(by_source, self.source[:-1], axis=0),
            np.maximum.reduceat(by_target, self.target[:-1], axis=1),
        )

    def leaders(self, blocks: list[Floats]) -> Ints:
        by_source, by_target = self._answer_costs(blocks[0])
        left = np.maximum.reduceat(by_source, self.source[:-1], axis=0)
        right = np.maximum.reduceat(by_target, self.target[:-1], axis=1)
        first_left = _first_equal(by_source, left, self.source, axis=0)
        first_right = _first_equal(by_target, right, self.target, axis=1)
        return np.where(left >= right, first_left, self.source[-1] + first_right)

    def decisive(self, blocks: list[Floats], leader: Ints) -> list[MovePairs]:
        to_source, to_target = self._answers(blocks[0])
        s, t, from_source, move = self._leading_moves(leader)
        mine = np.where(from_source, move, to_target[s, np.where(from_source, 0, move)])
        theirs = np.where(from_source, to_source[np.where(from_source, move, 0), t], move)
        return [MovePairs(np.arange(leader.size), (mine * self.target[-1] + theirs).ravel())]

    def answers(self, blocks: list[Floats]) -> list[MovePairs]:
        n, m, moves = len(self.source) - 1, len(self.target) - 1, self.target[-1]
        to_source, to_target = self._answers(blocks[0])  # [N, m], [n, M]
        pairs = np.concatenate(
            [
                (_owners(self.source)[:, None] * m + np.arange(m)).ravel(),
                (np.arange(n)[:, None] * m + _owners(self.target)).ravel(),
            ]
        )
        cells = np.concatenate(
            [
                (np.arange(self.source[-1])[:, None] * moves + to_source).ravel(),
                (to_target * moves + np.arange(moves)).ravel(),
            ]
        )
        return [MovePairs(pairs, cells)]

    def spread(self, value: Floats) -> list[Floats]:
        return [value[np.ix_(_owners(self.source), _owners(self.target))]]

    def state_pairs(self, block: int, flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
        x, y = np.divmod(flat, np.int32(self.target[-1]))
        m = np.int32(len(self.target) - 1)
        return (_owners(self.source)[x] * m + _owners(self.target)[y]).astype(np.int32)

    def _answer_costs(self, block: Floats) -> tuple[Floats, Floats]:
        """The cost of every source move against its best answer in every target state [N, m], and conversely [n, M]."""
        return (
            np.minimum.reduceat(block, self.target[:-1], axis=1),
            np.minimum.reduceat(block, self.source[:-1], axis=0),
        )

    def _answers(self, block: Floats) -> tuple[Ints, Ints]:
        """The first best answer itself: a target move [N, m], a source move [n, M]."""
        by_source, by_target = self._answer_costs(block)
        return (
            _first_equal(block, by_source, self.target, axis=1),
            _first_equal(block, by_target, self.source, axis=0),
        )

    def _leading_moves(self, leader: Ints) -> tuple[Ints, Ints, npt.NDArray[np.bool_], Ints]:
        """Both states of every pair, whether the source leads there, and with which of its (or the target's) moves."""
        n, m = leader.shape
        from_source = leader < self.source[-1]
        move = np.where(from_source, leader, leader - self.source[-1])
        return np.arange(n)[:, None], np.arange(m)[None, :], from_source, move


def _owners(first: Ints) -> Ints:
    """The state of every move."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _first_equal(block: Floats, reduced: Floats, first: Ints, *, axis: int) -> Ints:
    """The first move of every state at which the block attains its reduced value, along an axis of moves."""
    moves = np.arange(first[-1])
    equal = block == np.repeat(reduced, np.diff(first), axis=axis)
    number = np.where(equal, moves[:, None] if axis == 0 else moves[None, :], first[-1])
    return np.minimum.reduceat(number, first[:-1], axis=axis)


def count_up(count: Ints) -> Ints:
    """0, 1, …, count - 1 for every count in turn."""
    end = np.cumsum(count)
    total = int(end[-1]) if len(end) else 0
    return np.arange(total) - np.repeat(end - count, count)
