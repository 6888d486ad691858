"""Distances that say how differently two models behave.

The bisimulation metric, on rewards:

    d(s, t) = (1-γ)·|r(s) - r'(t)| + γ·OT_d(P[s], P'[t])            chains
    d(s, t) = its maximum over the actions                          decision processes, see `problems.game`

The bisimilarity distance of the verification literature, on labels:

    d(s, t) = 1 where the labels differ, else γ·OT_d(P[s], P'[t])
              0 where s and t are bisimilar, which is a condition of its own if γ = 1: see `problems.bisimilarity`

Reference: Ferns, Panangaden & Precup 2004; Desharnais, Gupta, Jagadeesan & Panangaden 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from bisimetric.cost.ground import label_mismatch
from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.problems.game import Actions, Game
from bisimetric.readers.convert import as_chain, as_model
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.history import Step
from bisimetric.solving.room import MANY_PAIRS, require_room
from bisimetric.solving.solution import Solution
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
    """Compute the bisimulation metric of one model, or between two.

    d(s, t) is (1-γ)·|r(s) - r'(t)| + γ·OT_d of the successors; between decision processes its maximum over the actions.
    The discounted rewards of two states, for decision processes the optimal ones, differ by at most d/(1-γ).

    Parameters
    ----------
    model, other : MarkovChain, MDP, or anything that `as_chain` or `as_mdp` takes
        Two chains with rewards, or two decision processes, with n and m states. Without `other` the model is compared
        with itself. For the metric under a policy compare the chains `mdp.under(policy)`.
    discount : float in [0, 1)
        γ, the weight of each step relative to the one before.
    actions : "same" or "matched"
        How actions of two decision processes meet: the same action is taken on both sides, and all states must have it;
        or each action is answered by the best one of the other side (the lax metric).
    solver : Solver or str, optional
        As for `solve`; the exact one by default.
    tol : float, optional
        The relative gap to reach; None is the solver's default.
    max_steps : int, optional
        Steps after which to give up; None is the solver's default.
    time_limit : float, optional
        Seconds after which to give up.
    throw : bool
        Raise an error where a `tol` that was given is missed; else the status of the answer says so.
    on_step : function of a `Step`, optional
        Called after every step.

    Returns
    -------
    Solution or MDPSolution
        Certified distances between all states, [n, m]; an `MDPSolution` for decision processes.

    Raises
    ------
    InvalidChain, InvalidProblem, InvalidOption
        A model cannot be read, the two are of different kinds, or their actions do not fit.
    ToleranceNotReached
        `tol` was missed; `error.solution` holds what was reached.

    Examples
    --------
    >>> import bisimetric as bm
    >>> stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    >>> mdp = bm.MDP([stay, go], [[0, 0], [1, 0]])
    >>> bm.bisimulation_metric(mdp, discount=0.5).value.round(10).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    source = as_model(model)
    target = source if other is None else as_model(other)
    if isinstance(source, MDP) != isinstance(target, MDP):
        raise InvalidProblem(
            "one model is an MDP and the other is not, expected two of a kind; mdp.under(policy) makes a chain, "
            "as_mdp(chain) an MDP with one action"
        )
    if isinstance(source, MDP) and isinstance(target, MDP):
        game = Game(source, target, discount=discount, actions=actions)
        return solve(game, solver, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)
    if actions != "same":
        raise InvalidOption(f"actions is {actions!r}, but chains have none; leave it out")
    chains = as_chain(source), as_chain(target)
    if chains[0].n_states * chains[1].n_states > MANY_PAIRS:
        require_room(*chains, None, solver)
    problem = Problem(*chains, discount=discount, normalised=True)
    return solve(problem, solver, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)


def bisimilarity_distance(
    source: Any,
    target: Any,
    *,
    discount: float = 1.0,
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> Solution:
    """Compute how differently two labelled chains can behave.

    d(s, t) is 1 where labels differ, else γ·OT_d of the successors. Zero means bisimilar. For every property φ of the
    labels of the first h + 1 states on the way, the probabilities from two states differ by
    |Pr(φ) - Pr'(φ)| ≤ d/γ^h at most. Without a discount (γ = 1) that is |Pr(φ) - Pr'(φ)| ≤ d for every property of all
    the labels on the way. Steps count: a chain that does the same with an extra step is a different chain. Where they
    should not, compare the chains that `label_changes` returns.

    At γ = 1 all depends on which states are bisimilar: coins that differ by ε and are tossed forever are at distance 1,
    for every ε > 0. States count as bisimilar where `bisimilar_classes` puts them in one class, with its tolerance of
    1e-12, on both chains together; they are at distance 0. The bounds hold for the chains in which the states of each
    class move exactly alike, with the given probabilities up to rounding. Rounding grows with the number of steps
    that the chains can take before they show a difference or become bisimilar; where that is beyond 10⁶ or so the
    interval may be wider than the default tolerance, and the status says STALLED.

    Parameters
    ----------
    source, target : MarkovChain, or anything that `as_chain` takes
        Chains with labels, n and m states.
    discount : float in [0, 1], default 1
        γ, the weight of each step relative to the one before; 1 for no discount.
    solver : Solver or str, optional
        As for `solve`; the exact one by default. Without a discount, `PolicyIteration` or `ValueIteration`.
    tol : float, optional
        The relative gap to reach; None is the solver's default.
    max_steps : int, optional
        Steps after which to give up; None is the solver's default.
    time_limit : float, optional
        Seconds after which to give up.
    throw : bool
        Raise an error where a `tol` that was given is missed; else the status of the answer says so.
    on_step : function of a `Step`, optional
        Called after every step.

    Returns
    -------
    Solution
        Certified distances between all states, [n, m], each in [0, 1].

    Raises
    ------
    InvalidChain, InvalidProblem
        A chain cannot be read or has no labels.
    InvalidOption
        The solver needs a discount below 1.
    ToleranceNotReached
        `tol` was missed; `error.solution` holds what was reached.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> bent = bm.MarkovChain([[0, 0.6, 0.4], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> round(bm.bisimilarity_distance(fair, bent, discount=0.9).distance, 10)
    0.09
    >>> round(bm.bisimilarity_distance(fair, bent).distance, 10)
    0.1
    """
    chains = as_chain(source), as_chain(target)
    gamma = checked_discount(discount, or_one=True)
    problem = BisimilarityProblem(*chains) if gamma == 1.0 else _with_discount(*chains, gamma)
    return solve(problem, solver, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)


def _with_discount(source: MarkovChain, target: MarkovChain, discount: float) -> Problem:
    """The distance on labels with a discount: a cost of 1 where labels differ, at which the game stops."""
    differ = label_mismatch(source, target)
    return Problem(source, target, discount=discount, cost=differ, stop=differ > 0)
