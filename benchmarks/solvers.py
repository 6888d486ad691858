"""All solvers side by side: CPU seconds to an error, what their intervals say, and whether a Sinkhorn start pays.

    error = max |value - V*| / max V*         interval = relative gap, that is max(upper - lower) / max(upper)

An approximate solver is run with more and more rounds until its error is small enough; each run counts by itself. The
start: policy iteration from the value of some rounds of Sinkhorn value iteration, which here pays for its rounds and
one evaluation but for no certificate; from V* itself, which shows what any start could save at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import bisimetric as bm
from benchmarks.instances import problem
from benchmarks.measure import in_fresh_process, timed
from benchmarks.tables import Row, Table, digits

DISCOUNT = 0.95
TRUTH = 1e-10  # relative gap of V*
ERRORS = (0.1, 0.01)
ENOUGH = 15.0  # CPU seconds of a run after which no longer run is tried
INSTANCES: Sequence[str] = ("paper-40", "dense-20", "dense-50")
QUICK_INSTANCES: Sequence[str] = ("dense-20",)
STARTS: dict[str, Sequence[int]] = {"dense-100": (10, 100), "dense-150": (10,), "uniform-100": (10,)}
QUICK_STARTS: dict[str, Sequence[int]] = {"dense-50": (10,)}
EXACT: dict[str, Any] = {"PolicyIteration": bm.PolicyIteration, "ValueIteration": bm.ValueIteration}
SMALL_ONLY: dict[str, Any] = {"LinearProgram": bm.LinearProgram}  # takes minutes and gigabytes on larger problems
SMALL = 400  # pairs of states
ROUNDS: dict[str, tuple[Any, Sequence[int]]] = {
    "SinkhornValueIteration": (bm.SinkhornValueIteration, (10, 30, 100, 300, 1000, 3000)),
    "SinkhornPolicyIteration": (bm.SinkhornPolicyIteration, (10, 30, 100, 300, 1000, 3000)),
    "EntropicPolicyIteration": (bm.EntropicPolicyIteration, (1, 2, 3, 5, 10)),
    "SinkhornBellman": (bm.SinkhornBellman, (10, 30, 100)),
}


def measure(instances: Sequence[str], starts: dict[str, Sequence[int]], say: Callable[[str], None]) -> list[Row]:
    """One row per instance and solver, and one per start."""
    rows: list[Row] = []
    for instance in instances:
        for solver in (*EXACT, *SMALL_ONLY, *ROUNDS):
            arguments: Row = {"instance": instance, "solver": solver}
            rows.append({"kind": "solver", **arguments} | in_fresh_process("solver", arguments))
            say(f"{instance}, {solver}: {rows[-1]['runs'][-1:]}")
    for instance, rounds in starts.items():
        arguments = {"instance": instance, "rounds": list(rounds)}
        rows.append({"kind": "start"} | arguments | in_fresh_process("sinkhorn-start", arguments))
        say(f"{instance}: cold {rows[-1]['cold_s']:.1f} s, from V* {rows[-1]['from_answer_s']:.1f} s")
    return rows


def solver_task(instance: str, solver: str) -> Row:
    """Runs with more and more rounds: CPU seconds, error, interval."""
    question = problem(instance, DISCOUNT)
    if solver in SMALL_ONLY and question.cost.size > SMALL:
        return {"runs": []}
    made = (EXACT | SMALL_ONLY).get(solver)
    tries = [made()] if made else [ROUNDS[solver][0](rounds=rounds) for rounds in ROUNDS[solver][1]]
    for tiny in ("dense-12", "rooms-4"):
        bm.solve(problem(tiny, DISCOUNT), tries[0])
    truth = bm.solve(question, tol=TRUTH).value
    runs: list[Row] = []
    for one in tries:
        solution, seconds = timed(lambda: bm.solve(question, one))  # noqa: B023
        error = float(np.abs(solution.value - truth).max() / truth.max())
        rounds = getattr(one, "rounds", None)
        runs.append({"rounds": rounds, "cpu": seconds["cpu"], "error": error, "interval": solution.relative_gap})
        if error <= min(ERRORS) or seconds["cpu"] > ENOUGH:
            break
    return {"runs": runs}


def start_task(instance: str, rounds: Sequence[int]) -> Row:
    """Policy iteration without a start, from V*, and from Sinkhorn rounds, whose seconds count too."""
    for tiny in ("dense-12", "dense-13"):
        bm.solve(problem(tiny, DISCOUNT))
        sinkhorn_value(problem(tiny, DISCOUNT), 8)
    question = problem(instance, DISCOUNT)
    bm.solve(question, max_steps=1, throw=False)  # compiles what rows of this length need
    cold, cold_s = timed(lambda: bm.solve(question))
    _, best_s = timed(lambda: bm.solve(question, initial=cold.value))
    warm = []
    for count in rounds:
        value, sinkhorn_s = timed(lambda: sinkhorn_value(question, count))  # noqa: B023
        _, exact_s = timed(lambda: bm.solve(question, initial=value))  # noqa: B023
        warm.append({"rounds": count, "sinkhorn_s": sinkhorn_s["cpu"], "exact_s": exact_s["cpu"]})
    return {"cold_s": cold_s["cpu"], "from_answer_s": best_s["cpu"], "starts": warm}


def sinkhorn_value(question: bm.Problem, rounds: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The value of the last coupling, without any certificate."""
    from bisimetric.operators.bellman import Bellman

    solver, bellman = bm.SinkhornValueIteration(rounds=rounds), Bellman.of(question)
    iterate = solver.init(bellman, None)
    while not iterate.finished:
        iterate = solver.step(bellman, iterate)
    return solver.measured(bellman, iterate).value / bellman.scale


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Seconds to each error, and the starts."""
    solved = [row for row in rows if row["kind"] == "solver"]
    instances = list(dict.fromkeys(row["instance"] for row in solved))
    for instance in instances:
        body = []
        for row in solved:
            if row["instance"] == instance and row["runs"]:
                last = row["runs"][-1]
                cells = [_to_error(row["runs"], error) for error in ERRORS]
                body.append([row["solver"], *cells, f"{last['error']:.1g}", f"{last['interval']:.1g}"])
        head = ["", *(f"to {error:.0%}" for error in ERRORS), "last error", "last interval"]
        notes = ("CPU seconds, one thread, certificate included; in brackets: rounds.",)
        yield Table(f"{instance}, γ = {DISCOUNT}", head, body, notes)
    head = ["", "cold", "from V* itself", "Sinkhorn rounds", "their time", "exact after them", "both / cold"]
    body = []
    for row in rows:
        if row["kind"] == "start":
            for start in row["starts"]:
                both = start["sinkhorn_s"] + start["exact_s"]
                seconds = (digits(start["sinkhorn_s"]), digits(start["exact_s"]), f"{both / row['cold_s']:.2f}")
                cold = (digits(row["cold_s"]), digits(row["from_answer_s"]))
                body.append([row["instance"], *cold, str(start["rounds"]), *seconds])
    yield Table("Policy iteration from a Sinkhorn value, CPU seconds", head, body)


def _to_error(runs: Sequence[Row], error: float) -> str:
    """Seconds of the first run that reaches the error."""
    for run in runs:
        if run["error"] <= error:
            return digits(run["cpu"]) + (f" ({run['rounds']})" if run["rounds"] else "")
    return f"> {digits(runs[-1]['cpu'])}" + (f" ({runs[-1]['rounds']})" if runs[-1]["rounds"] else "")
