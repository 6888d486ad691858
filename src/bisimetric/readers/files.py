"""Files that `bisimetric.save` wrote, and JSON of the same form written by hand."""

from __future__ import annotations

from bisimetric.errors import InvalidChain
from bisimetric.io.files import SUFFIXES
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.readers.reader import Reader


def _read(path: str) -> MarkovChain | MDP:
    from bisimetric.io.save_load import load

    model = load(path)
    if not isinstance(model, (MarkovChain, MDP)):
        raise InvalidChain(f"{path} holds a solution, expected a model; solution.problem has its two models")
    return model


READER = Reader(
    f"a model file ({', '.join(SUFFIXES)})",
    lambda obj: isinstance(obj, str) and obj.lower().endswith(SUFFIXES),
    _read,
)
