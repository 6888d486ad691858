"""The step size η: constant, or decaying like 1/√k?

Two 4-rooms chains with 20 states, m = 1. The upper panels show the error of the authors' quantity, (1-γ) times the mean
of V^π - V* over the stationary law of P⊗Q; the lower ones that of the distance between the starts, relative to it. The
curves are constant η and 10/√k as in the paper, the averaged output of Algorithms 1 and 2 for η = 1, and our runs in
two phases. The paper's message: a large constant η is fast at first and then stalls, a small one is slow, a decaying
one is best.

Paper: Figure 3, whose error is against a long run with a small η; ours is against the exact value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.environments import small_four_rooms
from bisimetric.experiments.convergence import AT_STARTS, MEAN, Compared, Curve, draw_panels
from bisimetric.experiments.experiment import Experiment, Record, ResultData, Table, Workplace
from bisimetric.experiments.methods import AVERAGED, OURS, PROPOSED
from bisimetric.experiments.rounds import spaced_rounds
from bisimetric.solvers.sinkhorn.step_size import Decaying

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME = "eta"
FLOORS = {MEAN: 1e-5, AT_STARTS: 1e-4}  # smaller errors are not drawn; the first is that of the authors' picture


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; `looks` is the number of points on a curve per factor of ten of k."""

    discount: float = 0.95
    constant: tuple[float, ...] = (0.1, 1.0, 10.0)
    decaying: float = 10.0
    averaged: float = 1.0  # η of the averaged output
    averaged_rounds: int = 2_000
    inner_steps: int = 1
    rounds: int = 20_000
    looks: int = 8
    our_rounds: tuple[int, ...] = (10, 25, 50, 100, 250, 500, 1000, 2000, 5000, 10_000, 20_000)

    def step_sizes(self) -> dict[str, Any]:
        """The paper's step sizes by the name of their curve."""
        constant = {f"η = {eta:g}": eta for eta in self.constant}
        return {**constant, f"η = {self.decaying:g}/√k": Decaying(self.decaying)}


QUICK = Config(rounds=1_000, averaged_rounds=200, looks=5, our_rounds=(10, 25, 50, 100, 250, 500, 1000))


def run(config: Config, workplace: Workplace) -> ResultData:
    """The exact values, and the curves of every method and step size."""
    workplace.say("the exact distance")
    compared = Compared(small_four_rooms("a"), small_four_rooms("b"), config.discount)
    looks = spaced_rounds(config.rounds, config.looks)
    curves: dict[str, dict[str, Curve]] = {}
    for method, solver in PROPOSED.items():
        curves[method] = {}
        for name, step in config.step_sizes().items():
            workplace.say(f"{method}, {name}")
            made = solver.as_in_paper(step_size=step, inner_steps=config.inner_steps, rounds=looks[-1])
            curves[method][name] = compared.last(made, looks)
        name = f"η = {config.averaged:g}, {AVERAGED}"
        workplace.say(f"{method}, {name}")
        few = [k for k in looks if k <= config.averaged_rounds]
        made = solver.as_in_paper(step_size=config.averaged, rounds=few[-1], output="average")
        curves[method][name] = compared.averaged(made, few)
        workplace.say(f"{method}, {OURS}")
        curves[method][OURS] = compared.final(solver(), config.our_rounds)
    return {"exact": compared.exact_numbers(), "curves": curves}


def errors(record: Record) -> dict[str, dict[str, Any]]:
    """The curves with errors in the place of values: absolute ones of the mean, relative ones at the starts."""
    exact = record["result"]["exact"]
    return {
        method: {
            name: {
                "rounds": curve["rounds"],
                MEAN: [value - exact[MEAN] for value in curve[MEAN]],
                AT_STARTS: [value / exact[AT_STARTS] - 1.0 for value in curve[AT_STARTS]],
            }
            for name, curve in curves.items()
        }
        for method, curves in record["result"]["curves"].items()
    }


def draw(record: Record) -> Mapping[str, Figure]:
    """The authors' error above, the error at the starts below; one curve per step size."""
    config, exact = record["config"], record["result"]["exact"]
    titles = {quantity: f"exact value {exact[quantity]:.6f}" for quantity in (MEAN, AT_STARTS)}
    labels = {
        MEAN: "error of (1-γ) · mean over the\nstationary law (the authors' error)",
        AT_STARTS: "error of the distance between\nthe starts, relative to it",
    }
    figure = draw_panels(errors(record), titles, labels, floors=FLOORS, log=(True, True))
    figure.suptitle(
        f"20-state 4-rooms a against b, γ = {config['discount']:g}, m = {config['inner_steps']}; errors below "
        f"{FLOORS[MEAN]:g} and {FLOORS[AT_STARTS]:g} are not drawn",
        fontsize="medium",
    )
    return {NAME: figure}


def tables(record: Record) -> Sequence[Table]:
    """Errors at the starts after about 100 and 1000 rounds and at the end, where a curve goes that far."""
    found = errors(record)
    rounds = next(iter(found["SVI"].values()))["rounds"]
    wishes = sorted({min(wish, rounds[-1]) for wish in (100, 1000, rounds[-1])})
    made = []
    for quantity, text in ((MEAN, "error of the authors' quantity"), (AT_STARTS, "relative error at the starts")):
        head = ["", *(f"{method} k ≈ {wish}" for method in PROPOSED for wish in wishes)]
        body = [
            [name, *(_cell(found[method][name], quantity, wish) for method in PROPOSED for wish in wishes)]
            for name in found["SVI"]
        ]
        note = f"Exact value: {record['result']['exact'][quantity]:.10f}."
        made.append(Table(f"Step size: {text}", head, body, (note,)))
    return made


def _cell(curve: Mapping[str, Any], quantity: str, wish: int) -> str:
    """The error nearest to a number of rounds; a dash where the curve ends before."""
    if curve["rounds"][-1] < 0.8 * wish:
        return "–"
    place = int(np.argmin(np.abs(np.log(np.divide(curve["rounds"], wish)))))
    error = curve[quantity][place]
    return f"{error:.1e}" if quantity == MEAN else f"{100 * error:.2g} %"


def summary(record: Record) -> dict[str, Any]:
    """The exact values, and the errors after the last round of each curve."""
    last = {
        method: {
            name: {"rounds": curve["rounds"][-1], MEAN: curve[MEAN][-1], AT_STARTS: curve[AT_STARTS][-1]}
            for name, curve in curves.items()
        }
        for method, curves in errors(record).items()
    }
    return {"exact": record["result"]["exact"], "last_error": last}


EXPERIMENT = Experiment(NAME, (NAME,), Config(), QUICK, run, draw, tables, summary)
