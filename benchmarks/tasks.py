"""The measurements that fresh processes make: `python -m benchmarks.tasks TASK JSON` prints JSON."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, ClassVar, Literal

import numpy as np

import bisimetric as bm
from benchmarks import average, bandwidth, large, logs, peers, readers, sharded, sinkhorn, solvers, tuning
from benchmarks.instances import COMPILATION, WARM_UP, WARM_UP_OF_PEERS, chain, problem
from benchmarks.measure import ENOUGH, limits, peak_bytes, repeated, resident_bytes, timed
from benchmarks.pareto import ladder
from benchmarks.tables import Row

WARM_UP_OF_CLASSES = ("sparse-50", "even-50", "path-50")


@dataclass(frozen=True, slots=True)
class PolicyIterationOnEveryPair(bm.PolicyIteration):
    """The exact solver on every pair, also on those whose distance is known beforehand."""

    open_pairs: ClassVar[bool] = False


def ours(
    instance: str,
    discount: float,
    tol: float | None,
    kernels: bool = False,
    quotient: bool = True,
    every_pair: bool = False,
) -> Row:
    """The exact solver after a warm-up, by the median of its repeats; `kernels` also measures its passes over memory.

    `every_pair` also solves mirror images of pairs, and pairs whose distance is known.
    """
    solver = PolicyIterationOnEveryPair() if every_pair else bm.PolicyIteration()
    for tiny in WARM_UP:
        bm.solve(problem(tiny, 0.5), solver, quotient=quotient)
    question = problem(instance, discount)
    before = resident_bytes()
    solution, runs = repeated(lambda: bm.solve(question, solver, tol=tol, quotient=quotient))
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


def method(name: str, instance: str, seed: int, discount: float, tol: float, timeout: float, memory: int) -> Row:
    """One of `peers.METHODS`, warmed up; its error against the certified distances.

    The fastest of its repeats counts: other work on the machine only adds to CPU seconds.
    """
    with limits(timeout + COMPILATION, None):
        for tiny in WARM_UP if name == "ours" else WARM_UP_OF_PEERS:
            peers.solve(name, problem(tiny, 0.5), 1e-3)
        question = problem(instance, discount, seed)
        if name == "ours":
            peers.solve(name, question, tol)  # again, because the first run includes compilation
    before = resident_bytes()
    try:
        with limits(timeout + ENOUGH, memory):
            value, runs = repeated(lambda: peers.solve(name, question, tol))
    except (MemoryError, bm.errors.NotEnoughMemory):
        return {"status": "out of memory"}
    except (ArithmeticError, RuntimeError, Warning) as error:
        return {"status": "failed", "detail": str(error)}
    peak = peak_bytes()
    certified = bm.solve(question)
    return {
        "status": "solved",
        "pairs": value.size,
        "cpu": min(run["cpu"] for run in runs),
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
    classes, runs = repeated(lambda: bm.bisimilar_classes(large))
    return {
        "states": large.n_states,
        "edges": int(large.transitions.nnz),
        "classes": int(classes.max()) + 1,
        "cpu": median(run["cpu"] for run in runs),
        "runs": runs,
    }


def between_starts(instance: str, discount: float, tol: float, pairs: Literal["all", "reachable"]) -> Row:
    """The distance between the starts of two chains, from all pairs of states or from the reachable ones."""
    tiny, question = problem("islands-3", 0.5), problem(instance, discount)
    bm.distance(tiny.source, tiny.target, discount=0.5, pairs=pairs)
    solution, runs = repeated(
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
    """The prototype of the same algorithm, from a folder that contains exact_solver_prototype.py."""
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
    "average": average.average_task,
    "large": large.large_task,
    "sharded": sharded.sharded_task,
    "ours": ours,
    "method": method,
    "prototype": prototype,
    "sinkhorn-round": sinkhorn.round_task,
    "sinkhorn-memory": sinkhorn.memory_task,
    "sinkhorn-start": solvers.start_task,
    "solver": solvers.solver_task,
    "tuning-case": tuning.case_task,
    "refinement": refinement,
    "between-starts": between_starts,
    "explicit-file": readers.write_task,
    "reader": readers.reader_task,
    "resampling": logs.resampling_task,
    "resampling-by-hand": logs.by_hand_task,
    "log-file": logs.write_log_task,
    "log-counting": logs.counting_task,
    "log-groupby": logs.groupby_task,
}

STREAMS: dict[str, Callable[..., Iterator[Row]]] = {"pareto": ladder.runs}  # they print a line per row

if __name__ == "__main__":
    task, arguments = sys.argv[1], json.loads(sys.argv[2])
    for row in STREAMS[task](**arguments) if task in STREAMS else [TASKS[task](**arguments)]:
        print(json.dumps(row), flush=True)
