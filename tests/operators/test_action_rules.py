"""From numbers on pairs of moves to numbers on pairs of states, against loops over all moves."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.operators.action_rules import MatchedActions, SameActions, count_up


@st.composite
def matched_blocks(draw):
    """A rule with one to three moves per state, and a block with many ties."""
    moves = [draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)) for _ in range(2)]
    first = [np.concatenate([[0], np.cumsum(count)]) for count in moves]
    size = int(first[0][-1] * first[1][-1])
    entries = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    return MatchedActions(*first), np.array(entries, float).reshape(first[0][-1], first[1][-1])


@given(matched_blocks())
def test_matched(case):
    """Outcome, decisive cell and answers are those of the Hausdorff distance, written out."""
    rule, block = case
    n, m = len(rule.source) - 1, len(rule.target) - 1
    outcome = rule.outcome([block])
    ((pairs, cells),) = rule.decisive([block], rule.leaders([block]))
    assert pairs.tolist() == list(range(n * m))
    ((owners, answers),) = rule.answers([block])
    for s, t in product(range(n), range(m)):
        part = block[rule.source[s] : rule.source[s + 1], rule.target[t] : rule.target[t + 1]]
        assert outcome[s, t] == max(part.min(axis=1).max(), part.min(axis=0).max())
        x, y = divmod(int(cells[s * m + t]), block.shape[1])
        assert rule.source[s] <= x < rule.source[s + 1]
        assert rule.target[t] <= y < rule.target[t + 1]
        assert block[x, y] == outcome[s, t]
        here = answers[owners == s * m + t]
        best = sorted([*part.min(axis=1), *part.min(axis=0)])
        assert sorted(block.ravel()[here]) == best


@given(matched_blocks())
def test_matched_places(case):
    """Values are spread over all moves of their states, and successors are found again."""
    rule, block = case
    n, m = len(rule.source) - 1, len(rule.target) - 1
    value = np.arange(n * m, dtype=float).reshape(n, m)
    (spread,) = rule.spread(value)
    assert spread.shape == block.shape
    np.testing.assert_array_equal(rule.state_pairs(0, np.arange(block.size)), spread.ravel())


@given(st.integers(1, 4), st.randoms(use_true_random=False))
def test_same(count, random):
    """The largest over blocks, and the first block that has it."""
    rule = SameActions(count)
    blocks = [np.array([[random.randint(0, 3) for _ in range(3)] for _ in range(2)], float) for _ in range(count)]
    stack = np.array(blocks)
    np.testing.assert_array_equal(rule.outcome(blocks), stack.max(axis=0))
    leader = rule.leaders(blocks)
    np.testing.assert_array_equal(leader, stack.argmax(axis=0))
    for a, (pairs, cells) in enumerate(rule.decisive(blocks, leader)):
        np.testing.assert_array_equal(pairs, np.flatnonzero(leader == a))
        np.testing.assert_array_equal(pairs, cells)
    assert [len(pairs) for pairs, _ in rule.answers(blocks)] == [6] * count
    assert all(value is blocks[0] for value in rule.spread(blocks[0]))


def test_counted():
    """Nothing for a count of zero."""
    assert count_up(np.array([2, 0, 3])).tolist() == [0, 1, 0, 1, 2]
    assert count_up(np.array([], np.int64)).tolist() == []
