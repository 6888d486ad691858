"""Anything that stands for a chain becomes a `MarkovChain`."""

from __future__ import annotations

from os import PathLike, fspath

from scipy import sparse

from bisimetric import environments
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP


def as_chain(obj: object) -> MarkovChain:
    """A chain from a chain, an array, a file (`.npz`, `.json`) or the name of a built-in environment."""
    if isinstance(obj, MarkovChain):
        return obj
    if isinstance(obj, (str, PathLike)):
        return _from_text(fspath(obj))
    if sparse.issparse(obj) or isinstance(obj, (list, tuple)) or hasattr(obj, "__array__"):
        return MarkovChain(obj)
    if isinstance(obj, MDP):
        raise InvalidChain("an MDP is no chain until a policy is chosen; mdp.under(policy) makes one")
    raise InvalidChain(
        f"cannot make a chain of a {type(obj).__name__}, expected a MarkovChain, a transition matrix, "
        "a chain file or the name of a built-in environment"
    )


def as_mdp(obj: object) -> MDP:
    """A decision process from a decision process, or from a chain with rewards, whose one action is to go on."""
    if isinstance(obj, MDP):
        return obj
    if isinstance(obj, MarkovChain):
        if obj.reward is None:
            raise InvalidChain("the chain has no reward; a decision process needs one, give it reward=")
        mdp = MDP([obj.transitions], obj.reward[:, None], start=obj.start, names=obj.names)
        object.__setattr__(mdp, "row_error", obj.row_error[:, None])  # its rows are those given to the chain
        object.__setattr__(mdp, "merged", obj.merged)
        return mdp
    raise InvalidChain(
        f"cannot make a decision process of a {type(obj).__name__}, expected an MDP or a MarkovChain with rewards; "
        "MDP(transitions, rewards) makes one of arrays"
    )


def _from_text(text: str | bytes) -> MarkovChain:
    from bisimetric.io import SUFFIXES, load

    if isinstance(text, bytes):
        raise InvalidChain(f"{text!r} is bytes, expected text")
    if text.lower().endswith(SUFFIXES):
        loaded = load(text)
        if not isinstance(loaded, MarkovChain):
            raise InvalidChain(f"{text} holds a solution, expected a chain; solution.problem has its two chains")
        return loaded
    if environments.is_name(text):
        return environments.by_name(text)
    raise InvalidOption(
        f"{text!r} is neither a chain file ({', '.join(SUFFIXES)}) nor a built-in environment; "
        "`bisimetric environments` lists those"
    )
