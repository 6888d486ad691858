"""Dicts as `to_dict` returns them, and those of the same form written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy import sparse

from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.readers.reader import Reader


def _read(document: Mapping[str, Any]) -> MarkovChain | MDP:
    from bisimetric.io.dicts import from_dict, is_mdp

    return from_dict(document, MDP) if is_mdp(document) else from_dict(document, MarkovChain)


READER = Reader(
    "a dict as MarkovChain.to_dict or MDP.to_dict returns it",
    lambda obj: isinstance(obj, Mapping) and not sparse.issparse(obj),  # some sparse matrices are dicts
    _read,
    takes_text=False,
)
