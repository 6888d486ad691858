"""From two logs to a comparison: one certified solve, resamples from its neighbourhood, a guarantee, what changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support import memory
from bisimetric._support.options import as_float, flag, function_or_none, whole
from bisimetric.cost.ground import Cost, label_mismatch, reward_gap
from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.estimation.changed import changes
from bisimetric.estimation.comparison import Comparison, merged
from bisimetric.estimation.pooled import PooledLogs, on_union, pooled, spelled_otherwise
from bisimetric.estimation.resampling import BOOTSTRAP, NULL, Resampling
from bisimetric.estimation.rounds import ResampleDone, run
from bisimetric.many.backends import checked_n_jobs
from bisimetric.many.chunks import portable
from bisimetric.models.estimated import EstimatedChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.readers.trajectories import from_trajectories
from bisimetric.solving.guarantee import guarantee
from bisimetric.solving.nearby import NEARBY_TOL
from bisimetric.solving.solve import solve

BYTES_PER_COMPARED_PAIR = 250  # of states: costs, distances, bounds and trees of sparse chains
LARGEST_SEED = 2**63
MOST_SPELLINGS = 5  # notes about states whose names are nearly the same


def compare(
    a: Any,
    b: Any,
    *,
    discount: float,
    cost: npt.ArrayLike | Cost | None = None,
    normalised: bool = False,
    resamples: int = 200,
    seed: int = 0,
    confidence: float = 0.95,
    n_jobs: int = 1,
    on_resample: Callable[[ResampleDone], None] | None = None,
) -> Comparison:
    """Say whether two logs come from different processes, how far apart those are, and what changed.

    Three statements are kept apart: the certified distance between the two *estimated* chains (computation); what two
    samples of one process would show, and how much the distance varies (resampling); and an interval that holds for the
    processes whatever they are (guarantee). Whole sequences are resampled, since they are the independent units.

    Parameters
    ----------
    a, b : EstimatedChain or list of sequences
        Two logs, as `from_trajectories` or `from_observations` makes them. They may have different states: the union is
        taken.
    discount : float in [0, 1)
        γ, the weight of each step relative to the one before. Steps after about 1/(1-γ) hardly count.
    cost : array [n, n] or cost object, optional
        What it costs to be in two states, over the union of states. By default the gap between rewards where the logs
        have rewards, else 1 for states of different names (different last values, for chains of higher order).
    normalised : bool, default False
        Multiply the cost by 1 - γ: distances are then shares of time from 0 to 1 where costs are.
    resamples : int, default 200
        How many of the null, and as many of the bootstrap. The smallest p-value is 1 / (1 + resamples).
    seed : int, default 0
        The same seed gives the same bits, for any number of processes.
    confidence : float, default 0.95
        Of the intervals and of what counts as changed.
    n_jobs : int, default 1
        The number of processes for resamples, -1 for one on every core.
    on_resample : function of a `ResampleDone`, optional
        Called after every resample.

    Returns
    -------
    Comparison
        After Ctrl-C during the resamples, from those that are finished: `notes` says how many.

    Raises
    ------
    InvalidData
        A log has a single sequence, or no transition.
    InvalidOption
        An option is out of range, or a log was made with other rules than the other.
    NotEnoughMemory
        There are too many states; nothing was computed.

    Notes
    -----
    Resampled distances are computed from the transport trees of a solved neighbour, to about 1e-3 of themselves,
    without certificates; the p-value takes the distance of the logs computed in the same way. A state that a resample
    never leaves is absorbing in it. With hidden states (`from_observations`) everything is conditional on the
    fitted model and on the paths that it decodes.

    Examples
    --------
    >>> import bisimetric as bm
    >>> before = [["home", "cart", "paid"], ["home", "help", "home", "cart"]] * 20
    >>> after = [["home", "cart", "help"], ["home", "help", "home", "cart"]] * 20
    >>> comparison = bm.compare(before, after, discount=0.9, resamples=50)
    >>> comparison.p_value < 0.05
    True
    >>> comparison.changed.significant()[0].target
    'help'
    """
    gamma = checked_discount(discount)
    count = whole(resamples, "resamples", at_least=1)
    whole(seed, "seed", at_least=0, at_most=LARGEST_SEED)
    level = as_float(confidence)
    if not 0.0 < level < 1.0:
        raise InvalidOption(f"confidence is {confidence!r}, expected a number between 0 and 1, such as 0.95")
    processes = checked_n_jobs(n_jobs) or 1
    function_or_none(on_resample, "on_resample")
    options: dict[str, Any] = {
        "discount": gamma,
        "cost": cost,
        "normalised": flag(normalised, "normalised"),
        "resamples": count,
    }
    options |= {"seed": seed, "confidence": level, "n_jobs": processes, "on_resample": on_resample}
    return _compared(_log(a, "a"), _log(b, "b"), options, None)


def compared_again(before: Comparison, more_a: Any, more_b: Any) -> Comparison:
    """The comparison of more sequences, from where the last one ended."""
    first, second = (
        own if more is None else merged(own, _log(more, role, own))
        for own, more, role in ((before.a, more_a, "more_a"), (before.b, more_b, "more_b"))
    )
    return _compared(first, second, before._options, before)


def _log(given: Any, role: str, like: EstimatedChain | None = None) -> EstimatedChain:
    """A chain with counts; lists of sequences are estimated by the plain rules."""
    if isinstance(given, EstimatedChain):
        return given
    if isinstance(given, MDP):
        raise InvalidOption(f"{role} has actions, expected a chain; leave out action=, or compare metrics of policies")
    if isinstance(given, (list, tuple)):
        if like is not None and like.labels != like.names:
            raise InvalidOption(f"{role} is a list, expected what from_trajectories makes with the same order=")
        end = None if like is None else like.end
        return from_trajectories(list(given), end=end or False)
    raise InvalidOption(
        f"{role} is a {type(given).__name__}, expected a log: from_trajectories(data, sequence=..., step=..., "
        "state=...) makes one of a table or a file"
    )


def _compared(a: EstimatedChain, b: EstimatedChain, options: dict[str, Any], before: Comparison | None) -> Comparison:
    logs = pooled(a, b)
    n = len(logs.names)
    memory.require(
        BYTES_PER_COMPARED_PAIR * n * n,
        f"comparing logs with {n} states together",
        "group states first: a page's template instead of its address",
    )
    first, second = on_union(a, logs), on_union(b, logs)
    cost = _ground_cost(options["cost"], first, second)
    problem = Problem(first, second, discount=options["discount"], cost=cost, normalised=options["normalised"])
    solution = solve(problem, initial=_guess(before, logs))
    resampling = Resampling(logs, options["discount"], cost, options["normalised"], options["seed"])
    if cost is label_mismatch or not callable(cost):
        resampling = replace(resampling, posed=problem)
    if options["n_jobs"] != 1:
        portable(resampling, "cost")
    observed = solve(resampling.problem(logs.split()), tol=NEARBY_TOL**2, initial=solution.value, quotient=False)
    shuffled = solve(resampling.problem(resampling.weights(NULL, 0)), tol=NEARBY_TOL**2, throw=False, quotient=False)
    resampling = resampling.started_from(NULL, shuffled).started_from(BOOTSTRAP, observed)
    as_resampled = resampling.distance_of(logs.split(), resampling.neighbours[NULL])
    found = run(resampling, options["resamples"], options["n_jobs"], options["on_resample"])
    bounds = guarantee(solution, confidence=options["confidence"], extrapolate=False)
    return Comparison(
        a=first,
        b=second,
        solution=solution,
        null=found.null,
        bootstrap=found.bootstrap,
        guarantee=(bounds.low, bounds.high),
        changed=changes(logs, observed, options["confidence"]),
        only=logs.only,
        notes=_notes(a, b, logs, len(found.null), options["resamples"], interrupted=found.interrupted),
        confidence=options["confidence"],
        seed=options["seed"],
        resamples=options["resamples"],
        _observed=as_resampled,
        _options=options,
        _logs=logs,
    )


def _ground_cost(cost: Any, first: EstimatedChain, second: EstimatedChain) -> Any:
    """The cost as `Problem` takes it; an array must be over the union of states."""
    if cost is None:
        return label_mismatch if first.reward is None else reward_gap
    n = first.n_states
    if not callable(cost) and np.shape(cost) != (n, n):
        raise InvalidProblem(
            f"cost has shape {np.shape(cost)}, expected {(n, n)}: one row and one column for every state of both logs; "
            "give states= to from_trajectories, or a function of two chains"
        )
    return cost


def _guess(before: Comparison | None, logs: PooledLogs) -> Floats | None:
    """The distances found so far, where the states are the same."""
    return before.solution.value if before is not None and before._logs.names == logs.names else None


def _notes(
    a: EstimatedChain, b: EstimatedChain, logs: PooledLogs, done: int, asked: int, *, interrupted: bool
) -> tuple[str, ...]:
    notes = [f"{role}: {note}" for role, chain in (("a", a), ("b", b)) for note in chain.notes]
    if not set(a.names or ()) & set(b.names or ()):
        notes.append("the logs have no state in common: check that both name their states in the same way")
    notes += [
        f"{' and '.join(map(repr, some))} are different states: mend the data if they should be one"
        for some in spelled_otherwise(logs.names)[:MOST_SPELLINGS]
    ]
    if interrupted:
        notes.append(f"interrupted: p-value and bootstrap are from {done} of {asked} resamples")
    return tuple(notes)
