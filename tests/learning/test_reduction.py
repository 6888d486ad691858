"""The best small chain."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption
from tests import strategies

FEW = {"descents": 1, "steps": 15}


def with_rewards(n, degree, seed):
    """A sparse random chain with rewards and a start."""
    chain = bm.environments.random_sparse_chain(n, degree, seed=seed)
    reward = np.random.default_rng(seed).random(n)
    return bm.MarkovChain(chain.transitions, reward=reward, start=0)


def distance_of_aggregate(chain, n_states, discount):
    """The distance to the chain that `aggregate` finds."""
    small = bm.aggregate(chain, n_states=n_states, discount=discount).model
    return bm.distance(chain, small, discount=discount, normalised=True).distance


@settings(max_examples=8)
@given(strategies.chains(max_states=4, min_states=2, reward=True, start=True, tiny=False))
def test_never_worse_than_aggregate(chain):
    """And the certified distance is that of the model; rows of the map are distributions."""
    found = bm.reduce(chain, 2, discount=0.8, descents=2, steps=4)
    assert found.distance <= distance_of_aggregate(chain, 2, 0.8) * (1 + 1e-6) + 1e-15
    again = bm.distance(chain, found.model, discount=0.8, normalised=True)
    assert found.interval == again.interval
    assert found.interval[0] <= found.distance <= found.interval[1]
    assert found.map.shape == (chain.n_states, 2)
    np.testing.assert_allclose(found.map.sum(axis=1), 1.0)
    assert found.map.min() >= 0.0


def test_closer_than_aggregate():
    """By half on a random chain, with the defaults' kind of search."""
    chain = with_rewards(15, 3, 2)
    found = bm.reduce(chain, 5, discount=0.9, descents=2, steps=150)
    assert 1.5 * found.interval[1] <= distance_of_aggregate(chain, 5, 0.9)


def test_where_rewards_are_rare():
    """On plain 4-rooms, plain descents end in the chain without rewards; moves of states lead elsewhere."""
    rooms = bm.environments.four_rooms(side=6)
    found = bm.reduce(rooms, 10, discount=0.95, descents=2, steps=90)
    assert 1.5 * found.interval[1] <= distance_of_aggregate(rooms, 10, 0.95)


def test_the_same_seed_gives_the_same_chain():
    """Bit by bit; another seed searches elsewhere."""
    chain = with_rewards(8, 3, 1)
    one, two = (bm.reduce(chain, 3, discount=0.9, descents=3, steps=10, seed=5) for _ in range(2))
    assert one.model == two.model
    assert np.array_equal(one.map, two.map)


def test_as_many_states_as_there_are():
    """Nothing is lost."""
    chain = with_rewards(4, 2, 1)
    assert bm.reduce(chain, 4, discount=0.9, **FEW).distance == 0.0


def test_one_state_and_constant_rewards():
    """The smallest chain; and a chain that is bisimilar to one state."""
    chain = with_rewards(5, 2, 3)
    assert bm.reduce(chain, 1, discount=0.9, **FEW).model.n_states == 1
    assert bm.reduce(chain, 2, discount=0.0, **FEW).distance <= distance_of_aggregate(chain, 2, 0.0)
    constant = bm.MarkovChain(chain.transitions, reward=np.ones(5), start=0)
    assert bm.reduce(constant, 1, discount=0.9, **FEW).distance == 0.0


def test_without_a_start_it_is_uniform():
    """As if it had been given."""
    chain = with_rewards(6, 2, 3)
    without = bm.MarkovChain(chain.transitions, reward=chain.reward)
    uniform = chain.with_start(np.full(6, 1 / 6))
    assert bm.reduce(without, 3, discount=0.9, **FEW).distance == bm.reduce(uniform, 3, discount=0.9, **FEW).distance


def test_progress_and_time():
    """Every step is told; no time leaves the chain of `aggregate`."""
    chain, steps = with_rewards(6, 2, 3), []
    bm.reduce(chain, 3, discount=0.9, descents=2, steps=5, on_step=steps.append)
    for descent in range(2):
        mine = [step.step for step in steps if step.descent == descent]
        assert mine == list(range(1, len(mine) + 1))
    assert all(later.best <= sooner.best for sooner, later in pairwise(steps))
    none = bm.reduce(chain, 3, discount=0.9, time_limit=1e-9)
    assert none.distance == pytest.approx(distance_of_aggregate(chain, 3, 0.9))
    assert "6 -> 3 states" in repr(none)
    assert "normalised" in repr(none)


def test_bad_input():
    """No rewards, decision processes, numbers out of range."""
    chain = with_rewards(4, 2, 1)
    with pytest.raises(InvalidChain, match="reward"):
        bm.reduce(bm.MarkovChain(chain.transitions), 2, discount=0.9)
    with pytest.raises(InvalidOption, match="under"):
        bm.reduce(bm.MDP([np.eye(2)], [[0], [1]]), 1, discount=0.9)
    for options in ({"n_states": 5}, {"n_states": 0}, {"steps": 0}, {"descents": -1}, {"seed": 0.5}, {"on_step": 1}):
        with pytest.raises(InvalidOption):
            bm.reduce(chain, **({"n_states": 2} | options), discount=0.9)
    with pytest.raises(ValueError, match="read-only"):
        bm.reduce(chain, 2, discount=0.9, **FEW).map[0, 0] = 1.0


@pytest.mark.parametrize("wrong", [None, 0, 2.5, "two"])
def test_numbers_of_states_that_are_none(wrong):
    """The error names the argument of this function."""
    with pytest.raises(InvalidOption, match="n_states is"):
        bm.reduce(bm.environments.four_rooms("p1"), wrong, discount=0.9)
