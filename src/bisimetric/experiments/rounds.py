"""Approximate solvers run round by round, without the checks of `solve`.

`solve` certifies after 1, 2, 4, 8, … rounds, which takes time beyond that of the method, and keeps no values of the
rounds between. Here a run can be evaluated after any round, by the value V^π of the current couplings π, rounded to
valid marginals, which is an upper bound on the distance:

    error = max(V^π - V*) / max V*

The authors' scripts show another quantity: the mean of V^π over the stationary law of P⊗Q, times 1-γ (`authors_mean`).
They stop a run of SVI or SPI early when no entry of π changes by more than 1e-4 (`stopping_round`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bisimetric import kernels
from bisimetric.couplings.factored import Factored
from bisimetric.couplings.rounded import evaluate
from bisimetric.couplings.witness import pair_cells
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.base import AnySolver
from bisimetric.solvers.sinkhorn.entropic import EntropicRound
from bisimetric.solving.solve import solve

TRUTH = 1e-10  # relative gap of V*
CURVE_ACCURACY = 1e-8  # residual of V^π on a curve, relative to the largest cost
ANSWER_ACCURACY = 1e-5  # the same for a final value that is timed
EARLY_STOP, EARLY_STOP_RELATIVE = 1e-4, 1e-6  # changes of π, absolute and relative, at which the authors' scripts stop
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


def averaged_values(
    problem: Problem, solver: Approximate, looks: Sequence[int], guess: Floats
) -> Iterator[tuple[int, Floats]]:
    """The same for the coupling of the averaged occupancies π_1, …, π_k, which Algorithms 1 and 2 return."""
    wanted, last = set(looks), max(looks)
    for k, iterate in iterates(problem, solver):
        if k in wanted:
            scale = iterate.factored.bellman.scale
            target = CURVE_ACCURACY * float(problem.cost.max())
            yield k, iterate.average.output(guess * scale, target * scale)[0] / scale
        if k == last:
            return


def final_values(
    problem: Problem, solver: Approximate, rounds: Sequence[int], guess: Floats
) -> Iterator[tuple[int, Floats]]:
    """The same for runs of these numbers of rounds, each from the beginning."""
    for k in rounds:
        *_, (_, iterate) = iterates(problem, replace(solver, rounds=k))  # type: ignore[call-arg]
        yield k, value_of(iterate.factored, guess, CURVE_ACCURACY * float(problem.cost.max()))


class RoundsAnswer(NamedTuple):
    """The result of a run: V^π, the value that an entropic method itself reports, and the rounds it took."""

    value: Floats
    own: Floats | None
    rounds: int


def answer(problem: Problem, solver: Approximate, tolerance: float = 0.0) -> RoundsAnswer:
    """Run a method and evaluate its couplings to ANSWER_ACCURACY; experiments time this call.

    An entropic method ends before its last round where a round changes no entry of its own value by more than this
    share of it; the others run all their rounds.
    """
    rounds, now, before = 0, None, None
    for rounds, iterate in iterates(problem, solver):  # noqa: B007 - the last one counts
        now = iterate.now if isinstance(iterate, EntropicRound) else None
        if now is not None and before is not None and bool((np.abs(now - before) <= tolerance * now).all()):
            break
        before = now
    scale = iterate.factored.bellman.scale
    value = value_of(iterate.factored, iterate.value / scale, ANSWER_ACCURACY * float(problem.cost.max()))
    return RoundsAnswer(value, None if now is None else now / scale, rounds)


def stopping_round(problem: Problem, solver: Approximate) -> int | None:
    """The round after which the authors' scripts stop early; None if they run all rounds."""
    before: Floats | None = None
    for k, iterate in iterates(problem, solver):
        now = _couplings(iterate.factored)
        if before is not None and np.allclose(now, before, rtol=EARLY_STOP_RELATIVE, atol=EARLY_STOP):
            return k
        before = now
    return None


def _couplings(state: Factored) -> Floats:
    """All entries of π, not rounded, in one array."""
    bellman = state.bellman
    cells = pair_cells(bellman, 0, bellman.cost.size)
    rows = bellman.source, bellman.target
    kernels.sinkhorn.rounding.rounded(
        0, bellman.cost.size, *rows, state.scalings, state.whole, state.rest, False, cells
    )
    weights: Floats = cells.weight
    return weights


def authors_mean(problem: Problem, value: Floats) -> float:
    """(1-γ) times the mean of a value over the stationary law of P⊗Q: what the authors' scripts call the distance."""
    laws = [stationary_law(chain) for chain in (problem.source, problem.target)]
    return (1.0 - problem.discount) * float(laws[0] @ value @ laws[1])


def stationary_law(chain: MarkovChain) -> Floats:
    """The stationary law of a chain that has one: νP = ν, Σν = 1, in the least-squares sense where there are more."""
    n = chain.n_states
    system = np.vstack([chain.transitions.toarray().T - np.eye(n), np.ones((1, n))])
    found = np.maximum(np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0], 0.0)
    law: Floats = found / found.sum()
    return law


def at_starts(problem: Problem, value: Floats) -> float:
    """The mean of a value over independent starts."""
    assert problem.source.start is not None
    assert problem.target.start is not None
    return float(problem.source.start @ value @ problem.target.start)


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
