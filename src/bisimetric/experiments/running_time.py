"""Running time by number of states, for several γ.

Random dense chains as the authors ran them (rows uniform(0,1) normalised, cost uniform(0,1)). Two pictures:

    running-time         every method with the paper's settings: its CPU seconds, and the error that it ends with
    running-time-tuned   CPU seconds to an error of 5 % and of 1 %, with settings chosen for each problem

The error of a method is max(V^π - V*)/max V* of its final couplings π, rounded; for ours it is the certified relative
gap, which bounds that error. The time of a method covers its rounds and one evaluation of its couplings, but neither
the checks by which `solve` certifies approximate solvers on the way nor the search for settings. Ours is `solve` to a
certified relative gap of 1e-6, with its certificate. Everything runs on one thread with compiled kernels. The baselines
stop early when their value no longer changes.

A short call is repeated, because the clock of a process may tick in milliseconds. Threads of the linear-algebra library
count as CPU time of the process while they wait, so they are switched off where `threadpoolctl` is installed
(scikit-learn brings it).

Paper: Figure 4, by wall-clock time, settings tuned by hand. Its message: SVI and SPI are up to ten times faster than
dWL and EntropicOTC, most of all for γ near 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bisimetric._support.blocks import one_thread
from bisimetric.environments import random_chain, random_cost
from bisimetric.experiments.experiment import Experiment, Record, Result, Table, Workplace
from bisimetric.experiments.methods import LADDERS, METHODS, OURS, PAPER, Rung, climb, options
from bisimetric.experiments.rounds import answer, relative_error, truth
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solve import solve

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME, TUNED = "running-time", "running-time-tuned"
PANEL = (2.75, 2.9)  # inches
CLOSEST = 1.4  # smallest ratio of two sizes that are both written below a panel
FINEST = 1e-6  # smaller errors are drawn as this
BATCH = 0.05  # least CPU seconds of a measurement
GROWTH = 4  # factor on the number of calls if they took less

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; those of the methods are in `methods.py`."""

    sizes: tuple[int, ...] = (2, 3, 5, 10, 15, 20, 25)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    discounts: tuple[float, ...] = (0.5, 0.75, 0.9, 0.95, 0.99)
    targets: tuple[float, ...] = (0.05, 0.01)
    certified: float = 1e-6  # relative gap of our method


QUICK = Config(sizes=(2, 5, 10), seeds=(0, 1), discounts=(0.75, 0.95))
WARM_UP = (3, 12)  # states: small and large problems use different kernels


def run(config: Config, workplace: Workplace) -> Result:
    """One row per size, seed and discount."""
    with single_threaded():
        workplace.say("compiling")
        for n in WARM_UP:
            _warm_up(_problem(n, 0, 0.5))
        rows = []
        for n in config.sizes:
            for discount in config.discounts:
                for seed in config.seeds:
                    workplace.say(f"n = {n}, γ = {discount:g}, seed {seed}")
                    row = _measure(_problem(n, seed, discount), config)
                    rows.append({"n": n, "discount": discount, "seed": seed, **row})
    return {"settings": {name: _name_and_options(solver) for name, solver in PAPER.items()}, "rows": rows}


def _problem(n: int, seed: int, discount: float) -> Problem:
    source, target = (random_chain(n, kind="uniform", seed=2 * seed + k) for k in range(2))
    return Problem(source, target, discount=discount, cost=random_cost(n, n, kind="uniform", seed=seed))


def _warm_up(problem: Problem) -> None:
    """Compile everything that is timed later."""
    exact = truth(problem)
    for method in METHODS:
        answer(problem, replace(PAPER[method], rounds=2))  # type: ignore[call-arg]
        climb(problem, LADDERS[method], exact, [0.2])


def cpu_seconds(work: Callable[[], Answer]) -> tuple[Answer, float]:
    """The result of a call and its CPU seconds: the mean over as many calls as take BATCH seconds together."""
    calls = 1
    while True:
        began = time.process_time()
        for _ in range(calls):
            result = work()
        spent = time.process_time() - began
        if spent >= BATCH:
            return result, spent / calls
        calls *= GROWTH


@contextmanager
def single_threaded() -> Iterator[None]:
    """Inside, this package and the linear-algebra library use one thread."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        limits = nullcontext()
    else:
        limits = threadpool_limits(1)
    with limits, one_thread():
        yield


def _measure(problem: Problem, config: Config) -> dict[str, Any]:
    """Seconds and errors of all methods on one problem."""
    exact = truth(problem)
    solution, seconds = cpu_seconds(lambda: solve(problem, tol=config.certified))
    return {
        "distance": float(exact[0, 0]),
        "largest": float(exact.max()),
        "paper": {
            **{method: _measure_method(problem, PAPER[method], exact) for method in METHODS},
            OURS: {"seconds": seconds, "error": solution.relative_gap, "own_error": None},
        },
        "tuned": {method: _tune(problem, method, exact, config.targets) for method in METHODS},
    }


def _measure_method(problem: Problem, solver: Any, exact: Floats) -> dict[str, float | None]:
    """Seconds and error, and the error of the value that an entropic method itself reports."""
    found, seconds = cpu_seconds(lambda: answer(problem, solver))
    own = None if found.own is None else float(np.abs(found.own - exact).max() / exact.max())
    return {"seconds": seconds, "error": relative_error(found.value, exact), "own_error": own}


def _tune(problem: Problem, method: str, exact: Floats, targets: Sequence[float]) -> dict[str, Any]:
    """For each target the first setting that reaches it, and its time; None if none does."""

    def timed(rung: Rung) -> dict[str, Any]:
        return {**_measure_method(problem, rung.solver, exact), "setting": _name_and_options(rung.solver)}

    found = climb(problem, LADDERS[method], exact, targets)
    return {str(target): None if rung is None else timed(rung) for target, rung in found.items()}


def _name_and_options(solver: Any) -> dict[str, Any]:
    return {"solver": solver.name, **options(solver)}


def draw(record: Record) -> Mapping[str, Figure]:
    """Both pictures, one column per γ."""
    config = record["config"]
    paper = [
        ("CPU seconds", lambda row, method: row["paper"][method]["seconds"]),
        (f"error reached (or ≤ {FINEST:.0e})", lambda row, method: max(row["paper"][method]["error"], FINEST)),
    ]
    tuned = [
        (f"CPU seconds to {100 * target:g} % error", lambda row, method, at=str(target): _time_to(row, method, at))
        for target in config["targets"]
    ]
    return {NAME: _panels(record, paper), TUNED: _panels(record, tuned)}


def _time_to(row: Mapping[str, Any], method: str, target: str) -> float:
    """CPU seconds to an error; NaN if the method does not reach it. Ours always does."""
    if method == OURS:
        return float(row["paper"][OURS]["seconds"])
    found = row["tuned"][method][target]
    return float("nan") if found is None else float(found["seconds"])


def _panels(record: Record, lines: Sequence[tuple[str, Any]]) -> Figure:
    """One row of panels per quantity, one column per γ, with common axes."""
    from bisimetric import plot
    from bisimetric.views.figures import new_figure

    config = record["config"]
    discounts = config["discounts"]
    figure = new_figure((PANEL[0] * len(discounts) + 1.4, PANEL[1] * len(lines)))
    grid = figure.subplots(len(lines), len(discounts), squeeze=False)
    for panels, (label, quantity) in zip(grid, lines, strict=True):
        for axes, discount in zip(panels, discounts, strict=True):
            series = {method: _series(record, discount, method, quantity) for method in (*METHODS, OURS)}
            first = axes is panels[0]
            plot.times(series, ylabel=label if first else "", title=f"γ = {discount:g}", axes=axes)
            axes.set_xticks(config["sizes"], _tick_labels(config["sizes"]))
            if axes is not grid[0][-1]:
                axes.get_legend().remove()
        ends = [axes.get_ylim() for axes in panels]
        for axes in panels:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    return figure


def _tick_labels(sizes: Sequence[int]) -> list[str]:
    """Sizes as text, without those too close to a larger one on a logarithmic axis."""
    labels: list[str] = []
    last = np.inf
    for n in reversed(sizes):
        labels.append(str(n) if last >= CLOSEST * n else "")
        last = n if labels[-1] else last
    return labels[::-1]


def _series(record: Record, discount: float, method: str, quantity: Any) -> tuple[Any, Any]:
    """Sizes, and the quantity by size and seed."""
    sizes = record["config"]["sizes"]
    rows = list(_chosen(record, discount))
    return sizes, [[quantity(row, method) for row in rows if row["n"] == n] for n in sizes]


def _chosen(record: Record, discount: float) -> Iterator[dict[str, Any]]:
    return (row for row in record["result"]["rows"] if row["discount"] == discount)


def tables(record: Record) -> Sequence[Table]:
    """Medians over seeds for the largest chains."""
    config = record["config"]
    found = summary(record)["by_method"]
    title, note = f"Running time, n = {config['sizes'][-1]}", f"Medians of {len(config['seeds'])} seeds"
    head = ["", *(f"γ = {discount:g}" for discount in config["discounts"])]
    paper = [[method, *(_paper_cell(at, method) for at in by.values())] for method, by in found.items()]
    certified = f"{note}; ours is certified to {config['certified']:.0e}."
    made = [Table(f"{title}, paper's settings: CPU seconds, error reached", head, paper, (certified,))]
    for target in map(str, config["targets"]):
        body = [[method, *(_seconds(at["to"][target]) for at in by.values())] for method, by in found.items()]
        made.append(Table(f"{title}, tuned: CPU seconds to {100 * float(target):g} % error", head, body, (f"{note}.",)))
    return made


def _paper_cell(at: Mapping[str, Any], method: str) -> str:
    return _seconds(at["seconds"]) + ("" if method == OURS else f", {100 * at['error']:.2g}%")


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.2g}"


def summary(record: Record) -> dict[str, Any]:
    """Medians over seeds for the largest chains, by method and discount; None for an error that is not reached."""
    config = record["config"]
    n = config["sizes"][-1]
    by_method: dict[str, Any] = {}
    for method in (*METHODS, OURS):
        by_method[method] = {}
        for discount in config["discounts"]:
            rows = [row for row in _chosen(record, discount) if row["n"] == n]
            by_method[method][str(discount)] = {
                **{key: float(np.median([row["paper"][method][key] for row in rows])) for key in ("seconds", "error")},
                "to": {str(target): _median_to(rows, method, str(target)) for target in config["targets"]},
            }
    return {"n": n, "by_method": by_method}


def _median_to(rows: Sequence[dict[str, Any]], method: str, target: str) -> float | None:
    """The median time to an error; an unreached error counts as infinite, and an infinite median is None."""
    times = [_time_to(row, method, target) for row in rows]
    median = float(np.median([np.inf if np.isnan(seconds) else seconds for seconds in times]))
    return median if np.isfinite(median) else None


EXPERIMENT = Experiment(NAME, (NAME, TUNED), Config(), QUICK, run, draw, tables, summary)
