"""Distances that say how differently two models behave.

The bisimulation metric, on rewards:

    d(s, t) = (1-γ)·|r(s) - r'(t)| + γ·OT_d(P[s], P'[t])            chains
    d(s, t) = the worst over actions of the same                    decision processes, see `_game`

The bisimilarity distance of the verification literature, on labels:

    d(s, t) = 1 where the labels differ, else γ·OT_d(P[s], P'[t])

Reference: Ferns, Panangaden & Precup 2004; Desharnais, Gupta, Jagadeesan & Panangaden 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from bisimetric.cost import label_mismatch
from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.models.mdp import MDP
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Actions, Game
from bisimetric.readers.convert import as_chain
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.solution import Solution, Step
from bisimetric.solving.solve import solve


@overload
def bisimulation_metric(
    model: MDP,
    other: MDP | None = None,
    *,
    discount: float,
    actions: Actions = "same",
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> MDPSolution: ...


@overload
def bisimulation_metric(
    model: Any,
    other: Any = None,
    *,
    discount: float,
    actions: Actions = "same",
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> Solution: ...


def bisimulation_metric(
    model: Any,
    other: Any = None,
    *,
    discount: float,
    actions: Actions = "same",
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> Solution | MDPSolution:
    """The bisimulation metric, normalised by 1 - γ, of one model against itself or between two.

    Models are both chains, or anything that `as_chain` takes, or both decision processes. `actions` says what
    decides between decision processes: the worst of the "same" action on both sides, which all states must have, or
    of actions "matched" as well as possible (the lax metric). The on-policy metric is that of the chains
    `mdp.under(policy)`. The optimal discounted rewards of two states differ by at most d/(1-γ), for both.

    >>> import bisimetric as bm
    >>> stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    >>> mdp = bm.MDP([stay, go], [[0, 0], [1, 0]])
    >>> bm.bisimulation_metric(mdp, discount=0.5).value.round(10).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if isinstance(model, MDP) != isinstance(model if other is None else other, MDP):
        raise InvalidProblem(
            "one model is an MDP and the other is not, expected two of a kind; mdp.under(policy) makes a chain, "
            "as_mdp(chain) an MDP with one action"
        )
    if isinstance(model, MDP):
        game = Game(model, model if other is None else other, discount=discount, actions=actions)
        return solve(game, solver, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)
    if actions != "same":
        raise InvalidOption(f"actions is {actions!r}, but chains have none; leave it out")
    problem = _of_chains(model, other, discount)
    return solve(problem, solver, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)


def bisimilarity_distance(
    source: Any,
    target: Any,
    *,
    discount: float,
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> Solution:
    """How differently two labelled chains can behave: d = 1 where labels differ, else γ·OT_d of the successors.

    Zero means bisimilar. For every property φ of the labels met in the first h steps (of the h + 1 states on the
    way), the probabilities from two states differ by at most their distance: |Pr(φ) - Pr'(φ)| ≤ d/γ^h.

    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> bent = bm.MarkovChain([[0, 0.6, 0.4], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> round(bm.bisimilarity_distance(fair, bent, discount=0.9).distance, 10)
    0.09
    """
    chains = as_chain(source), as_chain(target)
    differ = label_mismatch(*chains)
    problem = Problem(*chains, discount=discount, cost=differ, stop=differ > 0)
    return solve(problem, solver, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)


def _of_chains(model: Any, other: Any, discount: float) -> Problem:
    source = as_chain(model)
    target = source if other is None else as_chain(other)
    return Problem(source, target, discount=discount, normalised=True)
