"""The role of m: does it matter how often the Bellman–Sinkhorn operator is applied in a round?

The 4-rooms p1 against p0 with η = 1. The picture shows the distance between the starts under the rounded couplings
after k rounds, for several m, by SVI and by SPI, and the exact distance as a line. The paper's message: the curves
hardly depend on m, and m = 1 is competitive.

Paper: Figure 1. It has no exact distance to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.environments import four_rooms
from bisimetric.experiments.experiment import Experiment, Record, Result, Table, Workplace
from bisimetric.experiments.methods import PROPOSED
from bisimetric.experiments.rounds import TRUTH, spaced_rounds, values
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solve import solve

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME = "role-of-m"
SIZE = (9.6, 3.8)  # inches


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; `looks` is the number of points on a curve per factor of ten of k."""

    source: str = "p1"
    target: str = "p0"
    discount: float = 0.95
    step_size: float = 1.0
    rounds: int = 750
    inner_steps: tuple[int, ...] = (1, 2, 5, 10, 25)
    compared_at: tuple[int, ...] = (10, 50, 100, 250, 500, 750)
    looks: int = 12


QUICK = Config(rounds=250, inner_steps=(1, 2, 5), compared_at=(10, 50, 100, 250), looks=6)


def run(config: Config, workplace: Workplace) -> Result:
    """The exact distance, a curve per method and m, and how far the curves are apart."""
    problem = Problem(four_rooms(config.source), four_rooms(config.target), discount=config.discount)
    workplace.say("the exact distance")
    exact = solve(problem, tol=TRUTH)
    pair = tuple(int(np.argmax(chain.start)) for chain in (problem.source, problem.target) if chain.start is not None)
    looks = sorted({*spaced_rounds(config.rounds, config.looks), *config.compared_at})
    curves = {}
    for method in PROPOSED:
        for m in config.inner_steps:
            workplace.say(f"{method}, m = {m}")
            curves[f"{method} {m}"] = _curve(problem, (method, m), config, looks, exact.value, pair)
    return {
        "starts": pair,
        "exact": exact.distance,
        "interval": exact.interval,
        "rounds": looks,
        "estimates": {method: {str(m): curves[f"{method} {m}"] for m in config.inner_steps} for method in PROPOSED},
        "spread": {
            method: [_spread(curves, method, config, looks.index(k), exact.distance) for k in config.compared_at]
            for method in PROPOSED
        },
    }


def _curve(
    problem: Problem, setting: tuple[str, int], config: Config, looks: Sequence[int], guess: Floats, pair: Any
) -> list[float]:
    """The estimate after each of these rounds."""
    method, m = setting
    solver = PROPOSED[method](step_size=config.step_size, inner_steps=m, rounds=looks[-1])
    return [float(value[pair]) for _, value in values(problem, solver, looks, guess)]


def _spread(
    curves: Mapping[str, Sequence[float]], method: str, config: Config, place: int, exact: float
) -> dict[str, Any]:
    """How far the curves of a method are apart at one of the rounds, relative to the exact distance."""
    found = [curves[f"{method} {m}"][place] for m in config.inner_steps]
    return {
        "relative": (max(found) - min(found)) / exact,
        "error_of_first": found[0] / exact - 1.0,
        "error_of_best": min(found) / exact - 1.0,
    }


def draw(record: Record) -> Mapping[str, Figure]:
    """One panel per method, one curve per m."""
    from bisimetric import plot
    from bisimetric.views.figures import new_figure

    result, config = record["result"], record["config"]
    figure = new_figure(SIZE)
    panels = figure.subplots(1, len(PROPOSED), sharey=True)
    for axes, method in zip(panels, PROPOSED, strict=True):
        curves = {f"m = {m}": (result["rounds"], found) for m, found in result["estimates"][method].items()}
        title = f"{method}, η = {config['step_size']:g}, γ = {config['discount']:g}"
        plot.convergence(
            curves, exact=result["exact"], xlabel="rounds k", ylabel="estimated distance", title=title,
            log=(True, False), axes=axes,
        )  # fmt: skip
    panels[0].get_legend().remove()  # the other panel's legend serves both
    panels[1].set_ylabel("")
    return {NAME: figure}


def tables(record: Record) -> Sequence[Table]:
    """Errors and spreads at chosen rounds."""
    result, config = record["result"], record["config"]
    numbers = config["inner_steps"]
    head = ["rounds k", *(f"{method} {what}" for method in PROPOSED for what in ("m = 1", "best m", "spread"))]
    body = []
    for place, k in enumerate(config["compared_at"]):
        row = [str(k)]
        for method in PROPOSED:
            at = result["spread"][method][place]
            row += [f"{100 * at[key]:.1f} %" for key in ("error_of_first", "error_of_best", "relative")]
        body.append(row)
    notes = (
        f"Exact distance between the starts: {result['exact']:.10f}.",
        f"Errors of the estimates above it, and (max - min)/exact over m in {{{', '.join(map(str, numbers))}}}.",
    )
    title = f"Role of m: {config['source']} against {config['target']}, γ = {config['discount']:g}"
    return [Table(title, head, body, notes)]


def summary(record: Record) -> dict[str, Any]:
    """The exact distance, and the spreads over m by rounds."""
    result = record["result"]
    spreads = {
        method: {str(k): at["relative"] for k, at in zip(record["config"]["compared_at"], found, strict=True)}
        for method, found in result["spread"].items()
    }
    return {"exact": result["exact"], "relative_spread": spreads}


EXPERIMENT = Experiment(NAME, (NAME,), Config(), QUICK, run, draw, tables, summary)
