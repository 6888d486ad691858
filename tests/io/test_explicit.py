"""Models written for PRISM come back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from stormpy.examples import files

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.models.chain import compared_labels
from tests import strategies
from tests.io.decorated import decorated, there_and_back

TWO = [[0.5, 0.5], [0, 1]]


@given(decorated(strategies.chains(max_states=4)))
def test_chains_come_back_from_explicit_files(chain):
    """Equal to the last bit."""
    assert there_and_back(chain, "model.tra") == chain


def ordered(mdp, actions):
    """The same process with its actions in this order; those that no state has are left out."""
    order = [actions.index(mdp.action_name(a)) if mdp.actions else a for a in range(mdp.n_actions)]
    places = [order.index(k) for k in range(len(actions)) if k in order]
    used = [k for k in places if mdp.available[:, k].any()]
    return bm.MDP(
        [mdp.transitions[k] for k in used],
        mdp.rewards[:, used],
        available=mdp.available[:, used],
        actions=None if mdp.actions is None else [mdp.actions[k] for k in used],
        start=mdp.start,
        names=mdp.names,
        labels=mdp.labels,
    )


@given(decorated(strategies.mdps(max_states=4, partial=True)))
def test_processes_come_back_from_explicit_files(mdp):
    """Equal to the last bit, but for the order of named actions and actions that no state has."""
    found = there_and_back(mdp, "model.tra")
    if mdp.actions is None:
        last = int(np.flatnonzero(mdp.available.any(axis=0)).max()) + 1
        assert np.array_equal(found.available, mdp.available[:, :last])
        assert np.array_equal(found.rewards, mdp.rewards[:, :last])
        assert compared_labels(found.labels) == compared_labels(mdp.labels)
        for one, other in zip(found.transitions, mdp.transitions, strict=False):
            assert np.array_equal(one.toarray(), other.toarray())
    else:
        names = list(mdp.actions)
        assert ordered(found, names) == ordered(mdp, names)


def test_a_quotient(tmp_path):
    """Is a model like any other."""
    chain = bm.from_prism(Path(files.testfile_dir) / "dtmc" / "leader-3-5.pm")
    small, _ = bm.quotient(chain)
    bm.save(small, tmp_path / "small.tra")
    assert bm.as_chain(tmp_path / "small.tra") == small


@pytest.mark.parametrize("suffix", [".tra", ".drn"])
def test_actions_are_words(tmp_path, suffix):
    """Storm would take the second word for something else."""
    with pytest.raises(InvalidOption, match="one word"):
        bm.save(bm.MDP([TWO], [[1], [0]], actions=["go on"]), tmp_path / f"model{suffix}")


def test_files_of_another_model_are_not_mixed_in(tmp_path):
    """A file that would be read with the new transitions is left alone, and so are those."""
    bm.save(bm.MarkovChain(TWO, reward=[0, 1]), tmp_path / "model.tra")
    before = (tmp_path / "model.tra").read_bytes()
    with pytest.raises(FileFormatError, match=r"model\.srew.*remove it"):
        bm.save(bm.MarkovChain([[1.0]]), tmp_path / "model.tra")
    assert (tmp_path / "model.tra").read_bytes() == before
