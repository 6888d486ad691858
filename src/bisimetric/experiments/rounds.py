"""Approximate solvers run round by round, without the checks of `solve`.

`solve` certifies after 1, 2, 4, 8, … rounds, which takes time beyond that of the method, and keeps no values of the
rounds between. Here a run can be evaluated after any round, by the value V^π of the current couplings π, rounded to
valid marginals, which is an upper bound on the distance:

    error = max(V^π - V*) / max V*
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bisimetric.couplings.factored import Factored
from bisimetric.couplings.rounded import evaluate
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.base import AnySolver
from bisimetric.solvers.sinkhorn.entropic import EntropicRound
from bisimetric.solving.solve import solve

TRUTH = 1e-10  # relative gap of V*
CURVE_ACCURACY = 1e-8  # residual of V^π on a curve, relative to the largest cost
ANSWER_ACCURACY = 1e-5  # the same for a final value that is timed
Approximate = AnySolver  # a solver whose iterates hold `factored` couplings


def truth(problem: Problem) -> Floats:
    """V*, certified to TRUTH."""
    return solve(problem, tol=TRUTH).value


def relative_error(value: Floats, exact: Floats) -> float:
    """max(V^π - V*) / max V*."""
    return float((value - exact).max() / exact.max())


def iterates(problem: Problem, solver: Approximate, extra: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the round and the iterate after every round until the solver ends; couplings change in place.

    Each round is followed by `extra` half projections (an even number) of an unchanged kernel; they count as rounds.
    """
    bellman = Bellman.of(problem)
    iterate, k = solver.init(bellman, None), 1
    yield k, iterate
    while not iterate.finished:
        for _ in range(extra):
            iterate.factored.balance(not iterate.factored.by_source)
            k += 1
            yield k, iterate
        iterate, k = solver.step(bellman, iterate), k + 1
        yield k, iterate


def values(
    problem: Problem, solver: Approximate, looks: Sequence[int], guess: Floats, extra: int = 0
) -> Iterator[tuple[int, Floats]]:
    """Yield the round and V^π after each of the rounds in `looks`, and at the end; a `guess` near V^π saves time."""
    wanted, last = set(looks), max(looks)
    target = CURVE_ACCURACY * float(problem.cost.max())
    for k, iterate in iterates(problem, solver, extra):
        if k in wanted or iterate.finished:
            yield k, value_of(iterate.factored, guess, target)
        if k == last:
            return


class Answer(NamedTuple):
    """The result of a run: V^π, and the value that an entropic method itself reports."""

    value: Floats
    own: Floats | None


def answer(problem: Problem, solver: Approximate) -> Answer:
    """Run a method to its end and evaluate its couplings to ANSWER_ACCURACY; experiments time this call."""
    *_, (_, iterate) = iterates(problem, solver)
    scale = iterate.factored.bellman.scale
    value = value_of(iterate.factored, iterate.value / scale, ANSWER_ACCURACY * float(problem.cost.max()))
    return Answer(value, iterate.now / scale if isinstance(iterate, EntropicRound) else None)


def value_of(state: Factored, guess: Floats, target: float) -> Floats:
    """V^π of the couplings to a residual of `target`, in the units of the cost."""
    scale = state.bellman.scale
    return evaluate(state, guess * scale, target * scale) / scale


def spaced_rounds(last: int, per_decade: int) -> list[int]:
    """1 and even numbers up to `last`, about evenly spaced on a logarithmic axis.

    Rounds fit the two marginals in turn, so errors alternate between odd and even rounds: even ones give smooth curves.
    """
    count = 2 + round(per_decade * float(np.log10(last)))
    return sorted({1, *(max(2, 2 * round(k / 2)) for k in np.geomspace(1, last, count).tolist())})
