"""The key of a question: equal for equal questions, different as soon as anything that matters differs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric._pair_question import Question
from bisimetric.errors import InvalidOption
from tests.strategies import chains

ROWS = [[0.5, 0.5], [0.25, 0.75]]
FIRST = bm.MarkovChain(ROWS, reward=[0, 1], start=0, names=["a", "b"])
SECOND = bm.MarkovChain([[1, 0], [0.5, 0.5]], reward=[0, 1], start=1)
USUAL = Question(0.9, None, False, bm.PolicyIteration(), None)


def test_names_and_the_way_a_chain_was_given_do_not_matter():
    """Equal content, equal key: without names, sparse, another cost object with the same array."""
    from scipy import sparse

    same = bm.MarkovChain(sparse.coo_array(ROWS), reward=[0, 1], start=[1, 0])
    key = USUAL.key(FIRST, SECOND)
    assert len(key) == 32
    assert USUAL.key(same, SECOND) == key
    assert replace(USUAL, cost=bm.cost.reward_gap).key(FIRST, SECOND) == key
    assert replace(USUAL, cost=[[0, 1], [1, 0]]).key(FIRST, SECOND) == key


@pytest.mark.parametrize(
    "question",
    [
        replace(USUAL, discount=np.nextafter(0.9, 1)),
        replace(USUAL, normalised=True),
        replace(USUAL, cost=[[0, 1], [1, 5e-324]]),
        replace(USUAL, tol=1e-9),  # a missed tolerance that was asked for is an error
        replace(USUAL, solver=bm.PolicyIteration(accuracy=0.02)),
        replace(USUAL, solver=bm.ValueIteration()),
        replace(USUAL, solver=bm.SinkhornValueIteration(step_size=bm.Decaying(1.0))),
        replace(USUAL, solver=bm.SinkhornValueIteration(step_size=bm.Decaying(2.0))),
        replace(USUAL, solver=bm.SinkhornPolicyIteration(step_size=bm.Decaying(2.0))),
    ],
    ids=str,
)
def test_every_setting_matters(question):
    """Each of these is another question than the usual one, and than the others."""
    assert question.key(FIRST, SECOND) != USUAL.key(FIRST, SECOND)


def test_the_step_size_inside_a_solver_matters():
    """Options of options are part of the key."""
    keys = {
        replace(USUAL, solver=bm.SinkhornValueIteration(step_size=size)).key(FIRST, SECOND)
        for size in (1.0, "auto", bm.Decaying(1.0), bm.Decaying(2.0), bm.FromTheorem(1.0))
    }
    assert len(keys) == 5


def test_everything_about_the_chains_matters():
    """Rows by one rounding, the start, the rewards by their cost, the order, how far the rows were rounded."""
    moved = bm.MarkovChain([[0.5 + 2**-52, 0.5 - 2**-52], ROWS[1]], reward=[0, 1], start=0)
    other_reward = bm.MarkovChain(ROWS, reward=[0, 2], start=0)
    rounded = FIRST.with_start(0)
    object.__setattr__(rounded, "row_error", FIRST.row_error + 1e-16)
    variants = [FIRST, FIRST.with_start(1), FIRST.with_start([0.5, 0.5]), moved, other_reward, rounded]
    keys = {USUAL.key(chain, SECOND) for chain in variants} | {USUAL.key(SECOND, FIRST)}
    assert len(keys) == len(variants) + 1


def test_the_version_matters(monkeypatch):
    """Another version of this package may compute other bits."""
    before = USUAL.key(FIRST, SECOND)
    monkeypatch.setattr("bisimetric._pair_question.__version__", "99.0.0")
    assert USUAL.key(FIRST, SECOND) != before


@given(*[chains(reward=True, start=True)] * 4)
def test_keys_are_equal_exactly_for_equal_content(a, b, c, d):
    """For any small chains."""

    def content(source, target):
        rows = [(chain.transitions.toarray(), chain.start, chain.row_error) for chain in (source, target)]
        arrays = [array for chain in rows for array in chain]
        return [array.tobytes() for array in [*arrays, USUAL.problem(source, target).cost]]

    assert (USUAL.key(a, b) == USUAL.key(c, d)) == (content(a, b) == content(c, d))


def test_options_that_cannot_be_written_are_refused():
    """A solver of somebody else's with an array in it: its text would leave numbers out."""

    @dataclass(frozen=True, slots=True)
    class Strange(bm.PolicyIteration):
        weights: object = None

    question = replace(USUAL, solver=Strange(weights=np.zeros(3)))
    with pytest.raises(InvalidOption, match="is a ndarray, expected numbers and texts"):
        question.key(FIRST, SECOND)
    keys = {replace(USUAL, solver=Strange(weights=w)).key(FIRST, SECOND) for w in (1, np.float64(2.0), "x", None)}
    assert len(keys) == 4
