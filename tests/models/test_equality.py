"""Models and problems are equal by content, and hashable."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm

ROWS = [[0.1, 0.2, 0.7], [0, 1, 0], [1, 0, 0]]
PARTS = {"reward": [0, 1, 2], "start": 0, "names": ["a", "b", "c"], "labels": ["x", [1, 2], {"p", "q"}]}
OTHER_PARTS = {"reward": [0, 1, 3], "start": 1, "names": ["a", "b", "d"], "labels": ["x", [1, 2], {"p"}]}
STAY, GO = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
MDP_PARTS = {"start": 0, "names": ["a", "b"], "actions": ["stay", "go"], "available": [[True, True], [True, False]]}
OTHER_MDP_PARTS = {"start": 1, "names": ["a", "c"], "actions": ["stay", "run"], "available": [[True, True]] * 2}


def assert_equal(one, other):
    """Equal both ways, with one hash."""
    assert one == other
    assert other == one
    assert hash(one) == hash(other)
    assert len({one, other}) == 1


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array, sparse.coo_matrix])
def test_chains_are_equal_however_they_were_given(form):
    """Dense or sparse, a state or its distribution, a set or a list of labels."""
    start = np.array([1, 0, 0], np.int8)
    labels = [np.str_("x"), np.array([1, 2.0]), ["p", "q"]]
    other = bm.MarkovChain(
        form(ROWS), reward=np.arange(3, dtype=np.int16), start=start, names=PARTS["names"], labels=labels
    )
    assert_equal(bm.MarkovChain(ROWS, **PARTS), other)


def test_a_chain_made_of_another_ones_parts_equals_it():
    """The rows are what counts, not how far they were from those given."""
    chain = bm.MarkovChain(np.full((3, 3), 1 / 3), **PARTS)
    assert chain.row_error.any()
    parts = {name: getattr(chain, name) for name in PARTS}
    assert_equal(chain, bm.MarkovChain(chain.transitions, **parts))


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_a_chain_counts(part):
    """Another value, or none."""
    chain = bm.MarkovChain(ROWS, **PARTS)
    assert chain != bm.MarkovChain(ROWS, **PARTS | {part: OTHER_PARTS[part]})
    assert chain != bm.MarkovChain(ROWS, **PARTS | {part: None})
    assert chain != bm.MarkovChain([[0.1, 0.2, 0.7], [0, 1, 0], [0, 0, 1]], **PARTS)


def test_zero_has_no_sign_and_numbers_no_width():
    """As in Python, -0.0 is 0.0, and True, 1 and 1.0 are one label."""
    left = bm.MarkovChain(np.eye(2), reward=[0.0, 1.0], labels=[True, (0.0, 1)])
    assert_equal(left, bm.MarkovChain(np.eye(2), reward=[-0.0, 1.0], labels=[1.0, [-0.0, True]]))


def test_chains_equal_nothing_else():
    """Neither their rows nor a process with one action; comparing is no error."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    for other in (None, 3, "x", np.eye(2).tolist(), bm.as_mdp(chain)):
        assert chain != other


@pytest.mark.parametrize("part", MDP_PARTS)
def test_decision_processes_too(part):
    """Equal parts are equal, and every part counts."""
    rewards = [[0, 1], [2, 0]]
    mdp = bm.MDP([STAY, GO], rewards, **MDP_PARTS)
    assert_equal(mdp, bm.MDP(np.array([STAY, GO], float), np.array(rewards, float), **MDP_PARTS))
    assert mdp != bm.MDP([STAY, GO], rewards, **MDP_PARTS | {part: OTHER_MDP_PARTS[part]})
    assert mdp != bm.MDP([GO, STAY], rewards, **MDP_PARTS)
    assert mdp != bm.MDP([STAY, GO], [[0, 1], [3, 0]], **MDP_PARTS)


def test_rows_and_rewards_of_missing_actions_do_not_count():
    """They are ignored, so they make no difference."""
    available = [[True, True], [True, False]]
    one = bm.MDP([STAY, GO], [[0, 1], [2, 7]], available=available)
    assert_equal(one, bm.MDP([STAY, [[0, 1], [np.nan, 3]]], [[0, 1], [2, 0]], available=available))


def test_problems_too():
    """By their chains, costs, discounts and stops."""
    chains = [bm.MarkovChain(ROWS, **PARTS) for _ in range(2)]
    cost, stop = np.ones((3, 3)), np.eye(3, dtype=bool)
    options = {"discount": 0.9, "cost": cost, "stop": stop}
    problem = bm.Problem(*chains, **options)
    assert_equal(problem, bm.Problem(*chains[::-1], **options))
    for change in ({"discount": 0.8}, {"cost": 2 * cost}, {"stop": ~stop}, {"stop": None}, {"normalised": True}):
        assert problem != bm.Problem(*chains, **options | change)
    assert problem != bm.Problem(chains[0].with_start(1), chains[1], **options)


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_copies_and_files_are_equal(suffix, tmp_path):
    """After pickle, copy and save."""
    chain = bm.MarkovChain(ROWS, **PARTS)
    chain.save(tmp_path / f"chain.{suffix}")
    for other in (pickle.loads(pickle.dumps(chain)), copy.deepcopy(chain), bm.load(tmp_path / f"chain.{suffix}")):
        assert_equal(chain, other)


def test_hashes_hold_in_another_process(tmp_path):
    """A pickle made after hashing, read where texts have other hashes: equal chains still find one another."""
    chain = bm.MarkovChain(ROWS, **PARTS)
    found = {chain: 1}
    (tmp_path / "chain.pickle").write_bytes(pickle.dumps(found))
    code = (
        "import pickle, sys, bisimetric as bm; found = pickle.load(open(sys.argv[1], 'rb')); chain = next(iter(found));"
        "parts = {name: getattr(chain, name) for name in ('reward', 'start', 'names', 'labels')};"
        "print(found[bm.MarkovChain(chain.transitions, **parts)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "chain.pickle")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"
