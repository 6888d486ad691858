"""Anything that stands for a chain becomes a `MarkovChain`; and the shortest way from two of them to a distance."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

import numpy.typing as npt
from scipy import sparse

from bisimetric import environments
from bisimetric._chain import MarkovChain
from bisimetric._cost import Cost
from bisimetric._errors import InvalidChain, InvalidOption
from bisimetric._mdp import MDP
from bisimetric._problem import Problem
from bisimetric._reachable import reachable_part
from bisimetric._solution import Solution
from bisimetric._solve import solve
from bisimetric.solvers import PolicyIteration, Solver

PAIRS = ("all", "reachable")


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


def distance(
    source: Any,
    target: Any,
    *,
    discount: float,
    cost: npt.ArrayLike | Cost | None = None,
    normalised: bool = False,
    solver: Solver[Any] = PolicyIteration(),  # noqa: B008
    tol: float | None = None,
    pairs: str = "all",
) -> Solution:
    """The certified distances between two chains, or anything that `as_chain` takes.

    pairs="reachable" computes only what the distance between the starts depends on, which is faster where few pairs of
    states can be reached from there. `solution.problem.unsolved` marks the other pairs, whose value and bounds are NaN.

    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> round(solution.distance, 10)
    0.4355817651
    """
    if pairs not in PAIRS:
        raise InvalidOption(f"pairs is {pairs!r}, expected one of {', '.join(map(repr, PAIRS))}")
    problem = Problem(as_chain(source), as_chain(target), discount=discount, cost=cost, normalised=normalised)
    return solve(reachable_part(problem) if pairs == "reachable" else problem, solver, tol=tol)
