"""Rewards of states and transitions."""

from __future__ import annotations

import numpy as np
import pytest
import stormpy
from stormpy.examples import files

import bisimetric as bm
from bisimetric.errors import FileFormatError
from tests.readers.explicit.files import PRISM, PROCESS, write


def test_equal_rewards_of_transitions_are_kept_to_the_last_bit(tmp_path):
    """A mean over probabilities would round."""
    tra = "4 6\n0 0 0.1\n0 1 0.2\n0 2 0.7\n1 1 1\n2 2 1\n3 3 1\n"
    trew = "4 3\n0 0 0.1\n0 1 0.1\n0 2 0.1\n"
    assert bm.from_explicit(write(tmp_path, {"tra": tra, "trew": trew})).reward.tolist() == [0.1, 0, 0, 0]


def test_rewards_of_a_process(tmp_path):
    """Those of states go to every action."""
    mdp = bm.from_explicit(write(tmp_path, PROCESS | {"srew": "0 1\n1 2\n"}))
    assert mdp.rewards.tolist() == [[1, 5], [0, 2]]


def test_comments_of_prism(tmp_path):
    """Newer versions write them above the header."""
    path = write(tmp_path, PRISM | {"srew": '# Reward structure "steps"\n# State rewards\n3 1\n1 2\n'})
    path.with_suffix(".trew").unlink()
    assert bm.from_explicit(path).reward.tolist() == [0, 2, 0]


def test_a_reward_for_a_choice_that_is_not_there(tmp_path):
    """Names the line."""
    with pytest.raises(FileFormatError, match="line 2: the model has no transition"):
        bm.from_explicit(write(tmp_path, PROCESS | {"trew": "2 3 1\n1 1 1 3\n"}))


def test_a_transition_of_probability_zero_may_have_a_reward(tmp_path):
    """It does not count."""
    tra = "2 3\n0 0 1\n0 1 0\n1 1 1\n"
    assert bm.from_explicit(write(tmp_path, {"tra": tra, "trew": "0 0 2\n0 1 9\n"})).reward.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("name", "state_rewards", "transition_rewards"),
    [
        ("die", None, "die.coin_flips.trans.rew"),
        ("dtmc_general", "dtmc_general.state.rew", "dtmc_general.trans.rew"),
        ("two_dice", "two_dice.flip.state.rew", "two_dice.flip.trans.rew"),
        ("mdp_general", "mdp_general.state.rew", "mdp_general.trans.rew"),
    ],
)
def test_files_of_storm_as_storm_reads_them(name, state_rewards, transition_rewards):
    """Rows, labels, starts and rewards."""
    folder = files.testfile_dir
    tra, lab = f"{folder}/tra/{name}.tra", f"{folder}/lab/{name}.lab"
    srew, trew = (kind and f"{folder}/rew/{kind}" for kind in (state_rewards, transition_rewards))
    ours = bm.from_explicit(tra, lab, srew, trew=trew)
    built = stormpy.build_model_from_explicit(tra, lab, state_rewards=srew, transition_rewards=trew)
    is_chain = isinstance(ours, bm.MarkovChain)
    theirs = bm.as_chain(built) if is_chain else bm.as_mdp(built)
    assert ours.labels == theirs.labels
    assert np.array_equal(ours.start, theirs.start)
    if is_chain:
        assert np.array_equal(ours.transitions.toarray(), theirs.transitions.toarray())
        assert np.allclose(ours.reward, theirs.reward, rtol=1e-14)
    else:
        assert np.array_equal(ours.available, theirs.available)
        assert np.allclose(ours.rewards, theirs.rewards, rtol=1e-14)
        for one, other in zip(ours.transitions, theirs.transitions, strict=True):
            assert np.array_equal(one.toarray(), other.toarray())
