"""Dicts are models."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain


def test_dicts_become_models():
    """As `to_dict` returns them, and by hand; rows of rewards make a decision process."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    mdp = bm.MDP([np.eye(2), [[0, 1], [1, 0]]], [[0, 1], [2, 3]])
    assert bm.as_chain(chain.to_dict()) == chain
    assert bm.as_mdp(mdp.to_dict()) == mdp
    assert bm.as_chain({"transitions": [[0.5, 0.5], [0, 1]], "reward": [0, 1]}) == chain
    assert bm.as_mdp({"transitions": [np.eye(2), [[0, 1], [1, 0]]], "rewards": np.arange(4).reshape(2, 2)}) == mdp


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"a": 1}, "unknown key 'a'"),
        ({"transtions": [[1]]}, "did you mean 'transitions'"),
        ({"transitions": [[1]], "rewards": [1]}, "did you mean 'reward'"),
        (bm.distance([[1.0]], [[1.0]], cost=[[1]], discount=0.5).to_dict(), r"Solution\.from_dict"),
    ],
)
def test_other_dicts(document, message):
    """The error names the key."""
    with pytest.raises(InvalidChain, match=message):
        bm.as_chain(document)
