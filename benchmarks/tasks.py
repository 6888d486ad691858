"""What a fresh process measures; called as `python -m benchmarks.tasks TASK JSON`, prints JSON."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, ClassVar, Literal

import numpy as np

import bisimetric as bm
from benchmarks import bandwidth, peers, sinkhorn, solvers
from benchmarks.instances import chain, problem
from benchmarks.measure import limits, peak_bytes, resident_bytes, timed
from benchmarks.tables import Row

# Both kinds of supports, distances that are proved zero, a chain against itself, classes of states.
WARM_UP = ("rooms-4", "dense-12", "grid-5", "self-4", "corners-4")
WARM_UP_OF_CLASSES = ("sparse-50", "even-50", "path-50")
WARM_UP_OF_PEERS = ("rooms-2", "dense-3")  # nothing to compile, and a simplex method takes long already
REPEATS = 15  # batches at most, of a method that is fast
BATCH = 0.05  # CPU seconds at least in one go: the clock of a process with a time limit ticks every few milliseconds
ENOUGH = 1.0  # CPU seconds of repeats after which a method is not fast
COMPILATION = 60.0  # CPU seconds that a warm-up may take besides


@dataclass(frozen=True, slots=True)
class PolicyIterationOnEveryPair(bm.PolicyIteration):
    """The exact solver as it is where no distance is known beforehand."""

    open_pairs: ClassVar[bool] = False


def ours(
    instance: str,
    discount: float,
    tol: float | None,
    kernels: bool = False,
    quotient: bool = True,
    every_pair: bool = False,
) -> Row:
    """The exact solver, warmed up, by the median of its repeats; `kernels` also looks at its passes over memory.

    `every_pair` prevents that mirror images of pairs, or pairs whose distance is known, are left out.
    """
    solver = PolicyIterationOnEveryPair() if every_pair else bm.PolicyIteration()
    for tiny in WARM_UP:
        bm.solve(problem(tiny, 0.5), solver, quotient=quotient)
    question = problem(instance, discount)
    before = resident_bytes()
    solution, runs = _repeated(lambda: bm.solve(question, solver, tol=tol, quotient=quotient))
    n, m = question.shape
    row = {
        "pairs": n * m,
        "cpu": median(run["cpu"] for run in runs),
        "wall": median(run["wall"] for run in runs),
        "runs": runs,
        "relative_gap": solution.relative_gap,
        "steps": len(solution.history),
        "bytes_before": before,
        "bytes_peak": peak_bytes(),
    }
    return row | (bandwidth.measured(question, solution) if kernels else {})


def _repeated(work: Callable[[], Any]) -> tuple[Any, list[dict[str, float]]]:
    """The result, and the seconds a call in each of several batches."""
    runs: list[dict[str, float]] = []
    result, spent, calls = None, 0.0, 1
    while not runs or (len(runs) < REPEATS and spent < ENOUGH):
        result = None  # frees the last one
        result, seconds = timed(lambda: _last_of(work, calls))  # noqa: B023
        spent += seconds["cpu"]
        if not runs and seconds["cpu"] < BATCH and spent < ENOUGH:
            calls *= 4
        else:
            runs.append({clock: value / calls for clock, value in seconds.items()})
    return result, runs


def _last_of(work: Callable[[], Any], calls: int) -> Any:
    for _ in range(calls - 1):
        work()
    return work()


def method(name: str, instance: str, seed: int, discount: float, tol: float, timeout: float, memory: int) -> Row:
    """One of `peers.METHODS`, warmed up, by the median of its repeats; its error against the certified distances."""
    with limits(timeout + COMPILATION, None):
        for tiny in WARM_UP if name == "ours" else WARM_UP_OF_PEERS:
            peers.solve(name, problem(tiny, 0.5), 1e-3)
    question = problem(instance, discount, seed)
    before = resident_bytes()
    try:
        with limits(timeout + ENOUGH, memory):
            value, runs = _repeated(lambda: peers.solve(name, question, tol))
    except (MemoryError, bm.errors.NotEnoughMemory):
        return {"status": "out of memory"}
    except (ArithmeticError, RuntimeError, Warning) as error:
        return {"status": "failed", "detail": str(error)}
    peak = peak_bytes()
    certified = bm.solve(question)
    return {
        "status": "solved",
        "pairs": value.size,
        "cpu": median(run["cpu"] for run in runs),
        "runs": runs,
        "error": float(np.abs(value - certified.value).max() / certified.value.max()),
        "certified_gap": certified.relative_gap,  # of the distances that the error is against
        "bytes_before": before,
        "bytes_peak": peak,
    }


def refinement(instance: str) -> Row:
    """The classes of bisimilar states of a large chain."""
    for tiny in WARM_UP_OF_CLASSES:
        bm.bisimilar_classes(chain(tiny))
    large = chain(instance)
    classes, runs = _repeated(lambda: bm.bisimilar_classes(large))
    return {
        "states": large.n_states,
        "edges": int(large.transitions.nnz),
        "classes": int(classes.max()) + 1,
        "cpu": median(run["cpu"] for run in runs),
        "runs": runs,
    }


def between_starts(instance: str, discount: float, tol: float, pairs: Literal["all", "reachable"]) -> Row:
    """The distance between the starts of two chains, from all pairs of states or from those they lead to."""
    tiny, question = problem("islands-3", 0.5), problem(instance, discount)
    bm.distance(tiny.source, tiny.target, discount=0.5, pairs=pairs)
    solution, runs = _repeated(
        lambda: bm.distance(question.source, question.target, discount=discount, tol=tol, pairs=pairs)
    )
    stop = solution.problem.stop
    return {
        "pairs": solution.value.size,
        "pairs_solved": solution.value.size - (0 if stop is None else int(stop.sum())),
        "cpu": median(run["cpu"] for run in runs),
        "runs": runs,
        "distance": float(solution.distance),
        "relative_gap": solution.relative_gap,
    }


def prototype(folder: str, instance: str, discount: float, tol: float) -> Row:
    """The throw-away prototype of the same algorithm, from a folder that holds exact_solver_prototype.py."""
    sys.path.insert(0, folder)
    module = importlib.import_module("exact_solver_prototype")
    for name in ("rooms-4", "dense-4"):
        _run_prototype(module, problem(name, 0.5), 1e-3)
    question = problem(instance, discount)
    result, seconds = timed(lambda: _run_prototype(module, question, tol))
    return {**seconds, "relative_gap": float(result["relgap"]), "steps": int(result["iters"])}


def _run_prototype(module: Any, question: bm.Problem, tol: float) -> Any:
    rows = question.source.transitions, question.target.transitions
    return module.solve(*rows, np.array(question.cost), question.discount, rtol=tol)


TASKS: dict[str, Callable[..., Row]] = {
    "ours": ours,
    "method": method,
    "prototype": prototype,
    "sinkhorn-round": sinkhorn.round_task,
    "sinkhorn-memory": sinkhorn.memory_task,
    "sinkhorn-start": solvers.start_task,
    "solver": solvers.solver_task,
    "refinement": refinement,
    "between-starts": between_starts,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](**json.loads(sys.argv[2]))))
