"""Transition matrices: nested lists, sparse matrices of any format, data frames, and all else that numpy reads."""

from __future__ import annotations

from scipy import sparse

from bisimetric.models.chain import MarkovChain
from bisimetric.readers.reader import Reader


def _is_matrix(obj: object) -> bool:
    return sparse.issparse(obj) or isinstance(obj, (list, tuple)) or hasattr(obj, "__array__")


READER = Reader(
    "a transition matrix (array, sparse matrix or DataFrame)",
    _is_matrix,
    MarkovChain,
    takes_text=False,
    has_rewards=False,
)
