"""Approximate solvers driven by hand, round by round, without the looks of the checker.

`solve` certifies after 1, 2, 4, 8, … rounds, which costs time that is not the method's, and it keeps no value of the
rounds between. Here a run can be looked at after any number of rounds. What is seen is the value V^π of the couplings
π in hand, rounded to valid marginals, so an upper bound on the distance:

    error = max(V^π - V*) / max V*
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from bisimetric._bellman import Bellman
from bisimetric._problem import Problem
from bisimetric._sinkhorn import Factored
from bisimetric._solve import solve
from bisimetric._stochastic import Floats
from bisimetric.solvers import Solver

TRUTH = 1e-10  # relative gap of V*
CURVE_ACCURACY = 1e-8  # residual of V^π on a curve, relative to the largest cost
Approximate = Solver[Any]  # whose iterates hold `factored` couplings


def truth(problem: Problem) -> Floats:
    """V*, certified to TRUTH."""
    return solve(problem, tol=TRUTH).value


def relative_error(value: Floats, exact: Floats) -> float:
    """max(V^π - V*) / max V*."""
    return float((value - exact).max() / exact.max())


def couplings(problem: Problem, solver: Approximate, extra: int = 0) -> Iterator[Factored]:
    """The couplings after every round, for ever; they change in place.

    `extra` half projections with the kernel as it is follow each round, and count as rounds; an even number.
    """
    bellman = Bellman.of(problem)
    iterate = solver.init(bellman, None)
    while True:
        state: Factored = iterate.factored
        yield state
        for _ in range(extra):
            state.balance(not state.by_source)
            yield state
        iterate = solver.step(bellman, iterate)


def values(
    problem: Problem, solver: Approximate, looks: Sequence[int], guess: Floats, extra: int = 0
) -> Iterator[tuple[int, Floats]]:
    """Round and V^π at each of these rounds, in ascending order; a `guess` near V^π saves time."""
    wanted = set(looks)
    target = CURVE_ACCURACY * float(problem.cost.max())
    for k, state in enumerate(islice(couplings(problem, solver, extra), max(wanted)), start=1):
        if k in wanted:
            yield k, value_of(state, guess, target)


def value_of(state: Factored, guess: Floats, target: float) -> Floats:
    """V^π of the couplings, up to that residual, in the units of the cost."""
    scale = state.bellman.scale
    return state.evaluate(guess * scale, target * scale) / scale


def spaced(last: int, per_decade: int) -> list[int]:
    """Whole numbers from 1 to `last`, about evenly spaced on a logarithmic axis."""
    count = 2 + round(per_decade * float(np.log10(last)))
    return sorted({round(k) for k in np.geomspace(1, last, count).tolist()})
