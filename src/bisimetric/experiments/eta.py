"""The step size η: constant, or decaying like 1/√k?

Two 4-rooms chains with 20 states, m = 1. The picture shows the error of the rounded couplings π after k rounds,

    max(V^π - V*) / max V*         over all pairs of states; the record also has the error at the starts

for constant η, for 10/√k, and for this package's default. The paper's message: a large constant η is fast at first
and then stalls, a small one is slow, a decaying one is best.

Paper: Figure 3, whose error is against a long run with a small η; ours is against the exact value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.environments import small_four_rooms
from bisimetric.experiments.experiment import Experiment, Record, Result, Table, Workplace
from bisimetric.experiments.methods import PROPOSED
from bisimetric.experiments.rounds import TRUTH, relative_error, spaced_rounds, values
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.sinkhorn.step_size import Decaying, StepSize
from bisimetric.solving.solve import solve

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME = "eta"
AUTO = "auto"
SIZE = (9.6, 3.9)  # inches


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; `looks` is the number of points on a curve per factor of ten of k."""

    discount: float = 0.95
    constant: tuple[float, ...] = (0.1, 1.0, 10.0)
    decaying: float = 10.0
    inner_steps: int = 1
    rounds: int = 20_000
    looks: int = 8

    def step_sizes(self) -> dict[str, StepSize]:
        """Every step size by the name of its curve."""
        return {
            **{f"η = {eta:g}": eta for eta in self.constant},
            f"η = {self.decaying:g}/√k": Decaying(self.decaying),
            AUTO: AUTO,
        }


QUICK = Config(rounds=2_000, looks=5)


def run(config: Config, workplace: Workplace) -> Result:
    """The errors of every method and step size, by round."""
    problem = Problem(small_four_rooms("a"), small_four_rooms("b"), discount=config.discount)
    workplace.say("the exact distance")
    exact = solve(problem, tol=TRUTH)
    looks = spaced_rounds(config.rounds, config.looks)
    curves: dict[str, dict[str, Any]] = {}
    for method, solver in PROPOSED.items():
        curves[method] = {}
        for name, step in config.step_sizes().items():
            workplace.say(f"{method}, {name}")
            made = solver(step_size=step, inner_steps=config.inner_steps, rounds=looks[-1])
            found = [value for _, value in values(problem, made, looks, exact.value)]
            curves[method][name] = {
                "largest": [relative_error(value, exact.value) for value in found],
                "starts": [_at_starts(problem, value) / exact.distance - 1.0 for value in found],
            }
    return {
        "exact": exact.distance,
        "largest": float(exact.value.max()),
        "relative_gap": exact.relative_gap,
        "rounds": looks,
        "errors": curves,
    }


def _at_starts(problem: Problem, value: Any) -> float:
    assert problem.source.start is not None
    assert problem.target.start is not None
    return float(problem.source.start @ value @ problem.target.start)


def draw(record: Record) -> Mapping[str, Figure]:
    """One panel per method, one curve per step size."""
    from bisimetric import plot
    from bisimetric.views.figures import new_figure

    result, config = record["result"], record["config"]
    figure = new_figure(SIZE)
    panels = figure.subplots(1, len(PROPOSED), sharey=True)
    for axes, method in zip(panels, PROPOSED, strict=True):
        curves = {name: (result["rounds"], errors["largest"]) for name, errors in result["errors"][method].items()}
        plot.convergence(
            curves, xlabel="rounds k", ylabel="largest error / largest distance",
            title=f"{method}, m = {config['inner_steps']}, γ = {config['discount']:g}", log=(True, True), axes=axes,
        )  # fmt: skip
    panels[0].get_legend().remove()  # the other panel's legend serves both
    panels[1].set_ylabel("")
    return {NAME: figure}


def tables(record: Record) -> Sequence[Table]:
    """Errors after about 100 and 1000 rounds and at the end."""
    result = record["result"]
    rounds = result["rounds"]
    ends = [int(np.argmin(np.abs(np.log(np.divide(rounds, wish))))) for wish in (100, 1000, rounds[-1])]
    head = ["", *(f"{method} k = {rounds[k]}" for method in PROPOSED for k in ends)]
    body = [
        [name, *(f"{100 * result['errors'][method][name]['largest'][k]:.2g} %" for method in PROPOSED for k in ends)]
        for name in result["errors"]["SVI"]
    ]
    notes = (
        f"max(V^π - V*)/max V*, last couplings, rounded. Exact distance between the starts: {result['exact']:.10f}.",
    )
    title = f"Step size: 20-state 4-rooms a against b, γ = {record['config']['discount']:g}"
    return [Table(title, head, body, notes)]


def summary(record: Record) -> dict[str, Any]:
    """The exact distance, and the errors after the last round."""
    result = record["result"]
    last = {
        method: {name: errors["largest"][-1] for name, errors in curves.items()}
        for method, curves in result["errors"].items()
    }
    return {"exact": result["exact"], "last_round": result["rounds"][-1], "last_error": last}


EXPERIMENT = Experiment(NAME, (NAME,), Config(), QUICK, run, draw, tables, summary)
