"""The role of m: does it matter how often the Bellman–Sinkhorn operator is applied in a round?

The 4-rooms p1 against p0 with η = 1, for several m, by SVI and by SPI. The upper panels show the authors' quantity, the
mean of V^π over the stationary law of P⊗Q, times 1-γ; the lower ones the distance between the starts. Besides the last
couplings of the paper's runs there are the averaged output of Algorithms 1 and 2 (m = 1), and our runs in two phases.
The paper's message: the curves hardly depend on m, and m = 1 is competitive.

Paper: Figure 1. It has no exact distance to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimetric.environments import four_rooms
from bisimetric.experiments.convergence import AT_STARTS, MEAN, Compared, Curve, draw_panels
from bisimetric.experiments.experiment import Experiment, Record, ResultData, Table, Workplace
from bisimetric.experiments.methods import AVERAGED, OURS, PROPOSED
from bisimetric.experiments.rounds import spaced_rounds

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME = "role-of-m"


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


def run(config: Config, workplace: Workplace) -> ResultData:
    """The exact values, and a curve per method and m, for the averaged output, and for two phases."""
    workplace.say("the exact distance")
    compared = Compared(four_rooms(config.source), four_rooms(config.target), config.discount)
    looks = sorted({*spaced_rounds(config.rounds, config.looks), *config.compared_at})
    curves: dict[str, dict[str, Curve]] = {}
    for method, solver in PROPOSED.items():
        curves[method] = {}
        for m in config.inner_steps:
            workplace.say(f"{method}, m = {m}")
            made = solver.as_in_paper(step_size=config.step_size, inner_steps=m, rounds=looks[-1])
            curves[method][f"m = {m}"] = compared.last(made, looks)
        workplace.say(f"{method}, {AVERAGED}")
        made = solver.as_in_paper(step_size=config.step_size, rounds=looks[-1], output="average")
        curves[method][AVERAGED] = compared.averaged(made, looks)
        workplace.say(f"{method}, {OURS}")
        curves[method][OURS] = compared.final(solver(), config.compared_at)
    return {"exact": compared.exact_numbers(), "curves": curves}


def draw(record: Record) -> Mapping[str, Figure]:
    """The authors' quantity above, the starts below; one curve per m, and two more."""
    result, config = record["result"], record["config"]
    exact = result["exact"]
    titles = {quantity: f"exact {exact[quantity]:.6f}" for quantity in (MEAN, AT_STARTS)}
    labels = {
        MEAN: "(1-γ) · mean over the stationary\nlaw of P⊗Q (the authors' distance)",
        AT_STARTS: "distance between the starts\n(not normalised)",
    }
    figure = draw_panels(result["curves"], titles, labels, exact=exact)
    pair = f"4-rooms {config['source']} against {config['target']}, γ = {config['discount']:g}"
    figure.suptitle(f"{pair}, η = {config['step_size']:g} (ours: default steps)", fontsize="medium")
    return {NAME: figure}


def errors_at(record: Record, quantity: str, k: int) -> dict[str, dict[str, float]]:
    """The relative error after k rounds, by method and curve."""
    result = record["result"]
    return {
        method: {
            name: curve[quantity][curve["rounds"].index(k)] / result["exact"][quantity] - 1.0
            for name, curve in curves.items()
        }
        for method, curves in result["curves"].items()
    }


def tables(record: Record) -> Sequence[Table]:
    """Errors at chosen rounds: m = 1, the spread over m, the averaged output and two phases."""
    config = record["config"]
    what = {MEAN: "the authors' quantity", AT_STARTS: "at the starts"}
    made = []
    for quantity, text in what.items():
        exact = record["result"]["exact"][quantity]
        for method in PROPOSED:
            body = []
            for k in config["compared_at"]:
                errors = errors_at(record, quantity, k)[method]
                by_m = [errors[f"m = {m}"] for m in config["inner_steps"]]
                row = [by_m[0], min(by_m), max(by_m) - min(by_m), errors[AVERAGED], errors[OURS]]
                body.append([str(k), *(f"{100 * number:.1f} %" for number in row)])
            head = ["rounds k", "m = 1", "best m", "spread over m", AVERAGED, OURS]
            notes = (f"Errors relative to the exact value, {exact:.10f}; the spread is (max - min)/exact.",)
            made.append(Table(f"Role of m, {method}, {text}", head, body, notes))
    return made


def summary(record: Record) -> dict[str, Any]:
    """The exact values, and the errors after the last rounds that are compared."""
    last = record["config"]["compared_at"][-1]
    return {
        "exact": record["result"]["exact"],
        "rounds": last,
        "error": {quantity: errors_at(record, quantity, last) for quantity in (MEAN, AT_STARTS)},
    }


EXPERIMENT = Experiment(NAME, (NAME,), Config(), QUICK, run, draw, tables, summary)
