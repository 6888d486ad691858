"""Policy iteration for games between decision processes (Hoffman & Karp).

    V = T V,        T V = max over the moves of one player of the min over answers and couplings of the other

(see `_game`). As for chains a step is one evaluation and one sweep over all transports, warm-started:

    evaluate    V_{k+1} = V_k + d,  (I - γΠ) d = T_m V_k - V_k         moves m of the maximising player held, Π from the
                                                                      best answers and couplings against V_k
    improve     all transports at V_{k+1};  then, perhaps, new moves m

Switching both players at once is Newton's method on a function that is neither convex nor concave: it usually takes
a handful of steps, but it can cycle. So the moves change only when the held game is solved to a fraction `patience` of
the gap, which begins at infinity (always) and shrinks whenever three changes in a row failed to cut the gap by a
tenth. In the limit the held game is solved exactly before every change; then the values of the held games increase,
strictly somewhere until they are V, and there are finitely many moves, so the iteration ends. When BiCGSTAB makes
things worse, the step falls back to the sweep's own: value iteration, which always contracts.

References: Hoffman & Karp 1966; Ferns, Panangaden & Precup 2004.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bisimetric._game_bellman import GameBellman, GameSweep
from bisimetric._game_certificate import GameWitness
from bisimetric._meeting import Ints
from bisimetric._stochastic import UNIT_ROUNDOFF, Floats
from bisimetric.kernels.layout import Trees
from bisimetric.solvers.base import Iterate, Solver

ACCURACY = 0.01  # of an evaluation, as a fraction of the span of the held residual
FINEST_ACCURACY = 1e-6  # of the last evaluation
FAIR_CUT = 0.9  # of the gap between two changes of moves; anything less counts as a failure
PATIENCE = 3  # failures in a row before the held game must be solved better
FIRST_HOLD = 0.1  # of the gap: how well the held game is solved after the first failures
FINEST_HOLD = 1e-7
SAME = 4 * UNIT_ROUNDOFF  # gain of a move, relative to the largest value, that is rounding
STEPS_WITHOUT_PROGRESS = 60  # a few changes of moves, each with the steps that solve a held game


@dataclass(frozen=True, slots=True, eq=False)
class GameIterate(Iterate):
    """An iterate with the trees that warm-start the next one, and the moves that are held."""

    witness: GameWitness
    trees: tuple[Trees, ...]
    sweep: GameSweep
    leader: Ints  # [n, m]
    hold: float  # moves change when the held game is solved to this fraction of the gap
    changed_at: float  # the gap at the last change of moves
    failures: int  # in a row, changes that did not help

    def estimate(self) -> Floats:
        """The value of the last moves, answers and couplings."""
        return _evaluated(self, self.leader, FINEST_ACCURACY)


@dataclass(frozen=True, slots=True)
class GameIteration(Solver[GameIterate]):
    """Exact; each step is one evaluation and a warm-started transport for every pair of moves."""

    name: ClassVar[str] = "game-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 10_000

    def init(self, bellman: GameBellman, value: Floats | None) -> GameIterate:
        trees = bellman.new_trees()
        start = bellman.cost * bellman.scale if value is None else value
        sweep = bellman.improve(start, trees, cold=True)
        leader = bellman.rule.leaders(sweep.blocks)
        witness = GameWitness(bellman, start, trees)
        return GameIterate(start, witness, _gap(bellman, sweep), trees, sweep, leader, math.inf, math.inf, 0)

    def step(self, bellman: GameBellman, iterate: GameIterate) -> GameIterate:
        leader, hold, changed_at, failures = iterate.leader, iterate.hold, iterate.changed_at, iterate.failures
        held = bellman.rule.held(iterate.sweep.blocks, leader)
        if float(np.ptp(held)) <= hold * float(np.ptp(iterate.sweep.residual)):
            gain = iterate.sweep.residual - held
            better = gain > SAME * float(np.abs(iterate.value).max())
            leader = np.where(better, bellman.rule.leaders(iterate.sweep.blocks), leader)
            failures = 0 if iterate.gap < FAIR_CUT * changed_at else failures + 1
            changed_at = min(changed_at, iterate.gap)
            if failures == PATIENCE:
                hold, failures = max(min(hold / 10, FIRST_HOLD), FINEST_HOLD), 0
        value = _evaluated(iterate, leader, ACCURACY)
        sweep = bellman.improve(value, iterate.trees, cold=False)
        witness = GameWitness(bellman, value, iterate.trees)
        return GameIterate(
            value, witness, _gap(bellman, sweep), iterate.trees, sweep, leader, hold, changed_at, failures
        )

    def patience(self, discount: float) -> int:
        return STEPS_WITHOUT_PROGRESS


def _gap(bellman: GameBellman, sweep: GameSweep) -> float:
    below, above = bellman.onward(sweep.residual)
    return above - below


def _evaluated(iterate: GameIterate, leader: Ints, accuracy: float) -> Floats:
    """The value when the maximising player holds `leader`, or the sweep's own step where that is not to be had."""
    bellman, blocks = iterate.witness.bellman, iterate.sweep.blocks
    held = bellman.rule.held(blocks, leader)
    shift = 0.5 * sum(bellman.onward(held))
    target = max(accuracy * float(np.ptp(held)), SAME * float(np.abs(iterate.value).max()))
    chosen = bellman.rule.decisive(blocks, leader)
    solved = bellman.evaluate(iterate.trees, chosen, held, held + shift, target)
    if solved.residual <= float(np.abs(held).max()):
        return iterate.value + solved.x.reshape(held.shape)
    residual = iterate.sweep.residual
    return iterate.value + residual + 0.5 * sum(bellman.onward(residual))
