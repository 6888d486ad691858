"""Couplings and potentials as documents, block by block."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.couplings.witness import IndependentWitness
from bisimetric.errors import FileFormatError
from bisimetric.io.document import Fields
from bisimetric.io.witnesses import WITNESS_KEYS, Block, witness_document, witnesses_from
from bisimetric.operators.bellman import Bellman

RANDOM = np.random.default_rng(0)
CHAINS = bm.MarkovChain([[0.5, 0.5, 0], [0, 1, 0], [0.25, 0.25, 0.5]]), bm.MarkovChain([[0.5, 0.5], [0, 1]])
BELLMAN = Bellman.of(bm.Problem(*CHAINS, discount=0.5, cost=RANDOM.random((3, 2))))
WITNESS = IndependentWitness(BELLMAN)
BLOCK = Block(*BELLMAN.sizes)


def as_read(blocks, **changes):
    """The fields of the witnesses of some blocks as an archive has them, changed."""
    written = witness_document([(BLOCK, WITNESS)] * blocks)
    read = {key: np.concatenate(list(node.blocks())) for key, node in written.items()}
    return Fields(read | changes, "witness", WITNESS_KEYS)


@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks_come_back(blocks):
    """Each with the same cells and potentials."""
    found = witnesses_from(as_read(blocks), [BLOCK] * blocks)
    assert len(found) == blocks
    truth = WITNESS.cells(0, BLOCK.n_pairs)
    for witness in found:
        cells = witness.cells(0, BLOCK.n_pairs)
        for one, other in zip(cells, truth, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"left": np.full(18, 7)}, r"witness.left\[0\] is 7, but there is no such successor"),
        ({"right": np.full(18, -1)}, r"witness.right\[0\] is -1"),
        ({"weight": np.full(18, -0.5)}, "expected at least 0"),
        ({"indptr": np.zeros(7, np.int64)}, "expected to ascend"),
        ({"potential": np.zeros(3)}, "witness.potential has shape"),
    ],
)
def test_cells_that_are_none(changes, said):
    """The place of the first is named."""
    assert int(as_read(1).get("indptr")[-1]) == 18
    with pytest.raises(FileFormatError, match=said):
        witnesses_from(as_read(1, **changes), [BLOCK])
