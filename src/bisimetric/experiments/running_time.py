"""Running time by number of states, for several γ.

Random dense chains of two kinds: "uniform", as the authors ran them (rows uniform(0,1) normalised, cost uniform(0,1)),
and "softmax", as the paper says (O'Connor et al., Section 7.1). Two pictures:

    running-time         the settings of the authors' scripts: CPU seconds, and the error that each method ends with
    running-time-tuned   CPU seconds to a true error of 1 %, with settings from the same search for all methods

The error of a method is max(V^π - V*)/max V* of its final couplings π, rounded; for the exact solver it is the
certified relative gap, which bounds that error. The time of a method covers its rounds and one evaluation of its
couplings, but neither certificates nor the search for settings. That of the exact solver covers its certificate.
Everything runs on one thread with compiled kernels. A short call is repeated, because the clock of a process may tick
in milliseconds. Threads of the linear-algebra library count as CPU time of the process while they wait, so they are
switched off where `threadpoolctl` is installed (scikit-learn brings it).

Paper: Figure 4, by wall-clock time, settings tuned by hand, means and standard deviations of five instances. Its
message: SVI and SPI are up to ten times faster than dWL and EntropicOTC, most of all for γ near 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from bisimetric._support.blocks import one_thread
from bisimetric.environments import random_chain, random_cost
from bisimetric.experiments.experiment import Experiment, Record, ResultData, Workplace
from bisimetric.experiments.methods import DWL, FINE, LADDERS, METHODS, PAPER, PROPOSED, TOLERANCES, options
from bisimetric.experiments.rounds import answer, relative_error, stopping_round, truth
from bisimetric.experiments.running_time_pictures import draw_paper, draw_tuned
from bisimetric.experiments.running_time_tables import summary, tables
from bisimetric.experiments.search import Best, search
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solve import solve

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

NAME, TUNED = "running-time", "running-time-tuned"
SETTLED_SHARE = {DWL: 1e-6}  # change of the value at which the authors' script stops a baseline
BATCH = 0.05  # least CPU seconds of a measurement
GROWTH = 4  # factor on the number of calls if they took less
RECORDED_DIGITS = 4  # of seconds and errors in a record

WorkT = TypeVar("WorkT")


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; those of the methods are in `methods.py`."""

    kinds: tuple[Literal["softmax", "uniform"], ...] = ("uniform", "softmax")
    sizes: tuple[int, ...] = (2, 3, 5, 10, 15, 20, 25)  # with the settings of the authors' scripts
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)  # of the first kind
    fewer_seeds: tuple[int, ...] = (0, 1, 2)  # of the others
    discounts: tuple[float, ...] = (0.5, 0.6, 0.75, 0.85, 0.9, 0.95, 0.99)
    tuned_sizes: tuple[int, ...] = (10, 25, 50)
    tuned_seeds: tuple[int, ...] = (0, 1, 2)
    large: int = 50  # from this size on only the first seed
    tuned_discounts: tuple[float, ...] = (0.5, 0.6, 0.75, 0.85, 0.9, 0.95, 0.99)
    targets: tuple[float, ...] = (0.05, 0.01)
    limit: float = 4.0  # CPU seconds of a run


QUICK = Config(
    kinds=("uniform",),
    sizes=(2, 5, 10),
    seeds=(0, 1),
    discounts=(0.75, 0.95),
    tuned_sizes=(5, 10),
    tuned_seeds=(0,),
    tuned_discounts=(0.5, 0.95),
    limit=1.0,
)
WARM_UP = (3, 12)  # states: small and large problems use different kernels


def run(config: Config, workplace: Workplace) -> ResultData:
    """One row per kind, discount, size and seed, with the authors' settings and with those of the search."""
    with single_threaded():
        workplace.say("compiling")
        for n in WARM_UP:
            _warm_up(random_problem("uniform", n, 0, 0.5))
        return {
            "settings": {
                "paper": {name: {"solver": solver.name, **options(solver)} for name, solver in PAPER.items()},
                "ladders": {name: list(ladder) for name, ladder in LADDERS.items()},
            },
            "paper": list(_paper_rows(config, workplace)),
            "tuned": list(_tuned_rows(config, workplace)),
        }


def random_problem(kind: Literal["softmax", "uniform"], n: int, seed: int, discount: float) -> Problem:
    """Two random dense chains of n states and a random cost."""
    source, target = (random_chain(n, kind=kind, seed=2 * seed + k) for k in range(2))
    return Problem(source, target, discount=discount, cost=random_cost(n, n, kind=kind, seed=seed))


def _warm_up(problem: Problem) -> None:
    """Compile everything that is timed later."""
    exact = truth(problem)
    for method in METHODS:
        answer(problem, replace(PAPER[method], rounds=2))  # type: ignore[call-arg]
        search(problem, exact, LADDERS[method], [0.5], 0.5)


def _paper_rows(config: Config, workplace: Workplace) -> Iterator[dict[str, Any]]:
    for kind in config.kinds:
        for discount in config.discounts:
            for n in config.sizes:
                for seed in config.seeds if kind == config.kinds[0] else config.fewer_seeds:
                    workplace.say(f"authors' settings, {kind}, γ = {discount:g}, n = {n}, seed {seed}")
                    problem = random_problem(kind, n, seed, discount)
                    exact = truth(problem)
                    found = {method: _measured(problem, method, PAPER[method], exact) for method in METHODS}
                    stops = None
                    if seed == config.seeds[0]:  # costly to see
                        stops = {method: stopping_round(problem, PAPER[method]) for method in PROPOSED}
                    found[FINE] = _exact(problem, TOLERANCES[FINE])
                    place = {"kind": kind, "discount": discount, "n": n, "seed": seed}
                    yield {**place, "distance": float(exact[0, 0]), "methods": found, "early_stops": stops}


def _tuned_rows(config: Config, workplace: Workplace) -> Iterator[dict[str, Any]]:
    for kind in config.kinds:
        for discount in config.tuned_discounts:
            earlier: dict[str, Best | None] = dict.fromkeys(LADDERS)
            for n in config.tuned_sizes:
                for seed in config.tuned_seeds if n < config.large else config.tuned_seeds[:1]:
                    workplace.say(f"search, {kind}, γ = {discount:g}, n = {n}, seed {seed}")
                    problem = random_problem(kind, n, seed, discount)
                    exact = truth(problem)
                    first = seed == config.tuned_seeds[0]
                    found: dict[str, Any] = {name: _exact(problem, tol) for name, tol in TOLERANCES.items()}
                    for method, ladder in LADDERS.items():
                        best = search(
                            problem, exact, ladder, config.targets, config.limit, earlier[method], few=not first
                        )
                        if first:
                            earlier[method] = best
                        found[method] = _timed(problem, method, best, exact)
                    yield {"kind": kind, "discount": discount, "n": n, "seed": seed, "methods": found}


def _exact(problem: Problem, tol: float) -> dict[str, Any]:
    solution, seconds = cpu_seconds(lambda: solve(problem, tol=tol))
    return {"seconds": shortened(seconds), "error": shortened(solution.relative_gap)}


def _measured(problem: Problem, method: str, solver: Any, exact: Floats) -> dict[str, Any]:
    """Seconds, error and rounds, and the error of the value that an entropic method itself reports."""
    found, seconds = cpu_seconds(lambda: answer(problem, solver, SETTLED_SHARE.get(method, 0.0)))
    own = None if found.own is None else shortened(float(np.abs(found.own - exact).max() / exact.max()))
    error = shortened(relative_error(found.value, exact))
    return {"seconds": shortened(seconds), "error": error, "own_error": own, "rounds": found.rounds}


def _timed(problem: Problem, method: str, best: Best, exact: Floats) -> dict[str, Any]:
    """For each target the best setting, timed by itself; None if none reaches the target."""
    timed: dict[str, Any] = {}
    for target, found in best.items():
        timed[str(target)] = None
        if found:
            solver = LADDERS[method][found[0].setting].with_rounds(found[0].rounds)
            again, seconds = cpu_seconds(lambda solver=solver: answer(problem, solver))  # type: ignore[misc]
            timed[str(target)] = {
                "setting": found[0].setting,
                "rounds": found[0].rounds,
                "seconds": shortened(seconds),
                "error": shortened(relative_error(again.value, exact)),
            }
    return timed


def shortened(number: float) -> float:
    """A number with RECORDED_DIGITS digits, which is what is known of a measurement."""
    return float(f"{number:.{RECORDED_DIGITS}g}")


def cpu_seconds(work: Callable[[], WorkT]) -> tuple[WorkT, float]:
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


def draw(record: Record) -> Mapping[str, Figure]:
    """Both pictures, one column per γ."""
    return {NAME: draw_paper(record), TUNED: draw_tuned(record)}


EXPERIMENT = Experiment(NAME, (NAME, TUNED), Config(), QUICK, run, draw, tables, summary)
