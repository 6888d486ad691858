"""Approximate solvers driven by hand, round by round, without the looks of the checker.

`solve` certifies after 1, 2, 4, 8, … rounds, which costs time that is not the method's, and it keeps no value of the
rounds between. Here a run can be looked at after any number of rounds. What is seen is the value V^π of the couplings
π in hand, rounded to valid marginals, so an upper bound on the distance:

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
ANSWER_ACCURACY = 1e-5  # the same where time counts
Approximate = AnySolver  # whose iterates hold `factored` couplings


def truth(problem: Problem) -> Floats:
    """V*, certified to TRUTH."""
    return solve(problem, tol=TRUTH).value


def relative_error(value: Floats, exact: Floats) -> float:
    """max(V^π - V*) / max V*."""
    return float((value - exact).max() / exact.max())


def iterates(problem: Problem, solver: Approximate, extra: int = 0) -> Iterator[tuple[int, Any]]:
    """Round and iterate after every round, to the solver's end; couplings change in place.

    `extra` half projections with the kernel as it is follow each round, and count as rounds; an even number.
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
    """Round and V^π after each of these numbers of rounds, and at the end; a `guess` near V^π saves time."""
    wanted, last = set(looks), max(looks)
    target = CURVE_ACCURACY * float(problem.cost.max())
    for k, iterate in iterates(problem, solver, extra):
        if k in wanted or iterate.finished:
            yield k, value_of(iterate.factored, guess, target)
        if k == last:
            return


class Answer(NamedTuple):
    """What a run ends with: V^π, and the value that an entropic method itself takes for the distance."""

    value: Floats
    own: Floats | None


def answer(problem: Problem, solver: Approximate) -> Answer:
    """The end of a run, evaluated as well as a rough answer deserves: what is timed."""
    *_, (_, iterate) = iterates(problem, solver)
    scale = iterate.factored.bellman.scale
    value = value_of(iterate.factored, iterate.value / scale, ANSWER_ACCURACY * float(problem.cost.max()))
    return Answer(value, iterate.now / scale if isinstance(iterate, EntropicRound) else None)


def value_of(state: Factored, guess: Floats, target: float) -> Floats:
    """V^π of the couplings, up to that residual, in the units of the cost."""
    scale = state.bellman.scale
    return evaluate(state, guess * scale, target * scale) / scale


def spaced(last: int, per_decade: int) -> list[int]:
    """1 and even numbers up to `last`, about evenly spaced on a logarithmic axis.

    After an even number of rounds both sides have had their turn; between odd and even ones errors go up and down.
    """
    count = 2 + round(per_decade * float(np.log10(last)))
    return sorted({1, *(max(2, 2 * round(k / 2)) for k in np.geomspace(1, last, count).tolist())})
