"""What a fresh process measures; called as `python -m benchmarks.tasks TASK JSON`, prints JSON."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import bisimetric as bm
from benchmarks.instances import problem
from benchmarks.measure import peak_bytes, timed


def ours(instance: str, discount: float, tol: float | None) -> dict[str, Any]:
    """The exact solver; kernels are loaded on a tiny problem first."""
    _warm_up()
    before = peak_bytes()
    question = problem(instance, discount)
    solution, seconds = timed(lambda: bm.solve(question, tol=tol))
    n, m = question.shape
    return {
        "pairs": n * m,
        **seconds,
        "relative_gap": solution.relative_gap,
        "steps": len(solution.history),
        "bytes_before": before,
        "bytes_peak": peak_bytes(),
    }


def prototype(folder: str, instance: str, discount: float, tol: float) -> dict[str, Any]:
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


def _warm_up() -> None:
    for name in ("rooms-4", "dense-12"):  # both kinds of supports
        bm.solve(problem(name, 0.5))


if __name__ == "__main__":
    task, arguments = sys.argv[1], json.loads(sys.argv[2])
    tasks: dict[str, Callable[..., dict[str, Any]]] = {"ours": ours, "prototype": prototype}
    print(json.dumps(tasks[task](**arguments)))
