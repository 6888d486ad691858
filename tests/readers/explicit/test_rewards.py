"""Rewards of states and transitions."""

from __future__ import annotations

import pytest

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
