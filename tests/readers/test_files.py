"""Models in files."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files(tmp_path, suffix):
    """A chain that was saved, by path or by text."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    path = tmp_path / f"chain{suffix}"
    chain.save(path)
    for given in (path, str(path)):
        assert bm.as_chain(given).transitions.toarray().tolist() == [[0.5, 0.5], [0, 1]]


def test_a_solution_is_not_a_chain(tmp_path):
    """The message says where its models are."""
    chain = bm.MarkovChain([[1.0]], reward=[0.0])
    path = tmp_path / "solution.npz"
    bm.solve(bm.Problem(chain, chain, discount=0.5)).save(path)
    with pytest.raises(InvalidChain, match=r"solution\.problem"):
        bm.as_chain(path)
