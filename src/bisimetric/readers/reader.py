"""The parts of a reader: how it recognises its input, and how it makes a model of it.

A new kind of input is one file in this folder with a `READER`, and one line in the table of `convert`. The package that
the input belongs to is not imported to recognise it: `is_from` looks at the names of the modules that define its type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP


@dataclass(frozen=True, slots=True)
class Reader:
    """A kind of input; paths arrive as text."""

    accepts: str  # the name of this kind of input in errors
    matches: Callable[[Any], bool]
    read: Callable[[Any], MarkovChain | MDP]
    walks: bool = False  # whether `as_chain` takes a decision process of this kind under the uniform policy
    takes_text: bool = True  # False for objects only, which errors about a text do not name
    has_rewards: bool = True  # False for a bare matrix, which cannot become a decision process


def is_from(obj: object, package: str) -> bool:
    """Whether the type of `obj`, or a type that it inherits from, is defined in this package."""
    return any(kind.__module__.partition(".")[0] == package for kind in type(obj).__mro__)
