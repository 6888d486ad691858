"""Transition matrices in any form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm


@pytest.mark.parametrize("form", [np.asarray, list, tuple, sparse.csr_array, sparse.coo_matrix])
def test_matrices_become_chains(form):
    """Arrays, nested lists and sparse matrices."""
    assert bm.as_chain(form(np.eye(2))).transitions.toarray().tolist() == [[1, 0], [0, 1]]
