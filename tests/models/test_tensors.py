"""Tensors that record gradients: numpy refuses to read them, and the error says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem


class Tensor:
    """Refuses to become an array as a torch tensor with requires_grad=True does."""

    def __init__(self, data):
        self.data = np.asarray(data)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return (Tensor(row) for row in self.data)


CHAIN = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
REWARDS = [[0.0], [1.0]]
CALLS = {
    "transitions": (InvalidChain, lambda: bm.MarkovChain(Tensor(np.eye(2)))),
    "transitions of normalised": (InvalidChain, lambda: bm.MarkovChain.normalised(Tensor(np.eye(2)))),
    "as_chain": (InvalidChain, lambda: bm.as_chain(Tensor(np.eye(2)))),
    "reward": (InvalidChain, lambda: bm.MarkovChain(np.eye(2), reward=Tensor([0.0, 1.0]))),
    "start": (InvalidChain, lambda: bm.MarkovChain(np.eye(2), start=Tensor([0.0, 1.0]))),
    "one matrix per action": (InvalidChain, lambda: bm.MDP([Tensor(np.eye(2))], REWARDS)),
    "transitions of an MDP": (InvalidChain, lambda: bm.MDP(Tensor([np.eye(2)]), REWARDS)),
    "rewards": (InvalidChain, lambda: bm.MDP([np.eye(2)], Tensor(REWARDS))),
    "available": (InvalidChain, lambda: bm.MDP([np.eye(2)], REWARDS, available=Tensor([[True], [True]]))),
    "policy": (InvalidOption, lambda: bm.MDP([np.eye(2)], REWARDS).under(Tensor([[1.0], [1.0]]))),
    "cost": (InvalidProblem, lambda: bm.Problem(CHAIN, CHAIN, discount=0.5, cost=Tensor(np.ones((2, 2))))),
    "cost function": (
        InvalidProblem,
        lambda: bm.Problem(CHAIN, CHAIN, discount=0.5, cost=lambda x, y: Tensor(np.ones((2, 2)))),
    ),
    "discount": (InvalidProblem, lambda: bm.Problem(CHAIN, CHAIN, discount=Tensor(0.5))),
    "stop": (InvalidProblem, lambda: bm.Problem(CHAIN, CHAIN, discount=0.5, stop=Tensor([[True] * 2] * 2))),
    "guess": (InvalidProblem, lambda: bm.certify(bm.Problem(CHAIN, CHAIN, discount=0.5), Tensor(np.ones((2, 2))))),
    "pairwise": (InvalidProblem, lambda: bm.pairwise([CHAIN.with_start(0)], discount=0.5, cost=Tensor(np.eye(2)))),
}


@pytest.mark.parametrize("what", CALLS)
def test_a_tensor_that_records_gradients_is_refused_with_the_remedy(what):
    """One of our errors, wherever an array is expected."""
    kind, call = CALLS[what]
    with pytest.raises(kind, match=r"requires grad.*\.detach\(\)"):
        call()
