"""Policy iteration for games between decision processes (Hoffman & Karp).

    V = T V,        T V = max over the moves of one player of the min over answers and couplings of the other

(see `problems.game`). As for chains, a step is one evaluation and one sweep over all transports, warm-started:

    improve     the minimising player's best answers and couplings against V_k     (all transports)
    evaluate    V_{k+1} = the value when that player sticks to them                (a decision process for the other)

The evaluation is itself a policy iteration: choose the best moves against V, then replace V by V + d, where (I - γΠ) d
= the best gains (`linear.ladder`). It ends when the span of the gains is at most a fraction `accuracy` of the smallest
span that a sweep has shown so far. It needs no transport.

Changing the policies of both players at once, which is Newton's method on a function that is neither convex nor
concave, can cycle. Hoffman & Karp's method cannot: with exact evaluation the values decrease until they are V, and
there are finitely many answers and vertex couplings. When three steps in a row fail to reduce the gap by a tenth, the
accuracy is divided by ten, so the method tends to the exact one. Where an evaluation fails, the step is T V, the
sweep's own result: value iteration, which always contracts.

References: Hoffman & Karp 1966; Ferns, Panangaden & Precup 2004.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bisimetric.certificates.game import GameWitness
from bisimetric.kernels.layout import Trees
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.game import GameBellman, GameSweep
from bisimetric.solvers.base import FAILURES, FINEST_ACCURACY, NOISE, PROGRESS, Iterate, Solver

ACCURACY = 0.01  # span of the gains at which an evaluation ends, as a fraction of the smallest span so far
LINEAR = 0.1  # residual of an evaluation's linear systems, as a fraction of the span at which it ends; more diverges
WORTH_IT = 0.1  # smallest gain for which a move is changed, as a fraction of that final span, so that tied moves stay
MOST_ROUNDS = 1000  # limit of an evaluation; each round is a better policy, and rarely more than one a pair is needed
NO_GAIN = 4 * UNIT_ROUNDOFF  # gain, relative to the largest value, that may be rounding
# Steps without progress until the status is STALLED; at high discounts the gap may rise for long before it falls.
STEPS_WITHOUT_PROGRESS = 200


@dataclass(frozen=True, slots=True, eq=False)
class GameIterate(Iterate[GameWitness]):
    """An iterate with the transport trees that warm-start the next one."""

    trees: tuple[Trees, ...]
    sweep: GameSweep
    accuracy: float
    least: float  # the smallest gap so far
    failures: int  # consecutive steps that did not reduce it
    settled: bool = False  # only rounding is left

    def estimate(self) -> Floats:
        """The value when the minimising player keeps to the last answers and couplings."""
        return _evaluate(self, FINEST_ACCURACY)


@dataclass(frozen=True, slots=True)
class GameIteration(Solver[GameBellman, GameIterate]):
    """Exact, for decision processes: each step is one evaluation and a warm-started transport for every pair of moves.

    `bisimulation_metric` uses it; it takes no options.

    References
    ----------
    Hoffman & Karp 1966; Ferns, Panangaden & Precup 2004.

    Examples
    --------
    >>> import bisimetric as bm
    >>> mdp = bm.environments.four_rooms_mdp(side=3)
    >>> bm.bisimulation_metric(mdp, discount=0.9, solver=bm.solvers.GameIteration()).solver
    'game-iteration'
    """

    name: ClassVar[str] = "game-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 1000
    operates_on: ClassVar[type] = GameBellman

    def init(self, bellman: GameBellman, value: Floats | None, tol: float = 0.0) -> GameIterate:
        start = bellman.cost * bellman.scale if value is None else value
        return _sweep(bellman, start, bellman.new_trees(), cold=True)

    def step(self, bellman: GameBellman, iterate: GameIterate) -> GameIterate:
        if iterate.settled:
            return iterate
        after = _sweep(bellman, _evaluate(iterate, iterate.accuracy), iterate.trees, cold=False)
        least = min(iterate.least, after.gap)
        failures = 0 if least < PROGRESS * iterate.least else iterate.failures + 1
        if failures < FAILURES:
            return replace(after, accuracy=iterate.accuracy, least=least, failures=failures)
        settled = float(np.ptp(after.sweep.residual)) <= NOISE * float(np.abs(after.value).max())
        return replace(after, accuracy=max(iterate.accuracy / 10, FINEST_ACCURACY), least=least, settled=settled)

    def patience(self, bellman: GameBellman) -> int:
        return STEPS_WITHOUT_PROGRESS


def _sweep(bellman: GameBellman, value: Floats, trees: tuple[Trees, ...], *, cold: bool) -> GameIterate:
    sweep = bellman.improve(value, trees, cold=cold)
    below, above = bellman.bounds(sweep.residual)
    gap = above - below
    return GameIterate(value, GameWitness(bellman, value, trees), gap, trees, sweep, ACCURACY, gap, 0)


def _evaluate(iterate: GameIterate, accuracy: float) -> Floats:
    """The value when the minimising player keeps to the answers and couplings of the iterate's sweep."""
    bellman = iterate.witness.bellman
    game = bellman.with_fixed_answers(iterate.trees, iterate.sweep)
    change = np.zeros(iterate.value.size)
    best = game.best()
    choice = game.first_best(best)
    span = iterate.least * (1.0 - bellman.discount) / bellman.discount
    enough = max(accuracy * span, NO_GAIN * float(np.abs(iterate.value).max()))
    for done in range(MOST_ROUNDS):
        better = best - game.residual[choice] > WORTH_IT * enough
        if done and not better.any():  # only rounding is left
            break
        choice = np.where(better, game.first_best(best), choice)
        moves, gain = game.moves[choice], game.residual[choice]

        middle = gain + 0.5 * sum(bellman.bounds(gain))
        solved = bellman.ladder.solve_stored(
            moves, gain, middle, bellman.discount, LINEAR * enough, rows=bellman.shape[0]
        )
        step = solved.x if solved.residual <= float(np.abs(gain).max()) else middle
        change += step
        game = game.after(step)
        best = game.best()
        if float(np.ptp(best)) <= enough:
            break
    change += best
    if float(np.ptp(best)) <= span:  # otherwise the middle of the bounds is a worse estimate
        change += 0.5 * sum(bellman.bounds(best))
    value = iterate.value + change.reshape(iterate.value.shape)
    # Not clipped to the largest value: rounding may lift single entries above it, and clipping those would open a gap.
    return np.clip(value, bellman.cost * bellman.scale, 2.0 * bellman.largest_value(), out=value)
