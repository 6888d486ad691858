"""Logs: resamples against one cold solve and against a bootstrap by hand; a large Parquet file against pandas' groupby.

A log has sessions of random lengths over a sparse chain of 100 states; the second log has other rows in ten states.
Resamples of each kind are counted with the solve that they start from. By hand means what an analyst writes: sessions
drawn, their rows concatenated, counted with pandas, and `distance` called in a loop, with the same draws. CPU seconds,
one thread, every row in a process of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bisimetric as bm
from benchmarks.measure import in_fresh_process, peak_bytes, repeated, resident_bytes
from benchmarks.tables import Row, Table, digits

STATES, CHANGED, DISCOUNT = 100, 10, 0.9
SHAPES = ((5, 1000), (5, 5000), (8, 2000), (10, 2000), (10, 5000))  # successors of a state, sessions of a log
QUICK_SHAPES = ((5, 200),)
RESAMPLES, QUICK_RESAMPLES = 200, 10
CHECKED = 10  # resamples of each kind that are also solved cold, to the end
BY_HAND = 10  # resamples by hand, of which the time for all follows
ROWS, QUICK_ROWS = 10_000_000, 100_000
MEAN_LENGTH = 30
Progress = Callable[[str], None]


def process(successors: int, *, changed: bool) -> Any:
    """Rows of a sparse chain; the first ten are others if it has changed."""

    def rows(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        matrix = np.zeros((STATES, STATES))
        for x in range(STATES):
            matrix[x, rng.choice(STATES, successors, replace=False)] = rng.dirichlet(np.ones(successors))
        return matrix

    matrix = rows(1)
    if changed:
        matrix[:CHANGED] = rows(7)[:CHANGED]
    return matrix


def sessions(matrix: Any, count: int, seed: int) -> list[list[int]]:
    """Paths from state 0, of random lengths."""
    rng = np.random.default_rng(seed)
    lengths = 2 + rng.geometric(1.0 / (MEAN_LENGTH - 1), count)
    above = np.cumsum(matrix, axis=1)
    state = np.zeros(count, np.int64)
    path = [state]
    for _ in range(int(lengths.max()) - 1):
        state = np.minimum((above[state] < rng.random(count)[:, None]).sum(axis=1), len(matrix) - 1)
        path.append(state)
    return [walk[:length].tolist() for walk, length in zip(np.array(path).T, lengths, strict=True)]


def two_logs(successors: int, count: int) -> tuple[list[list[int]], list[list[int]]]:
    """Before and after."""
    before, after = (process(successors, changed=changed) for changed in (False, True))
    return sessions(before, count, 1), sessions(after, count, 2)


def resampling_task(successors: int, count: int, resamples: int) -> Row:
    """CPU seconds of resamples of both kinds, relative to one cold solve; and their errors."""
    from bisimetric.cost.ground import label_mismatch
    from bisimetric.estimation.pooled import pooled
    from bisimetric.estimation.resampling import BOOTSTRAP, NULL, Resampling

    a, b = (bm.from_trajectories(log, states=range(STATES)) for log in two_logs(successors, count))

    def cold() -> bm.Solution:
        return bm.distance(a, b, discount=DISCOUNT, cost=bm.cost.label_mismatch)

    cold()
    solution, runs = repeated(cold)
    seconds = float(np.median([run["cpu"] for run in runs]))
    logs = pooled(a, b)
    posed = bm.Problem(a, b, discount=DISCOUNT, cost=label_mismatch)
    drawing = Resampling(logs, DISCOUNT, label_mismatch, False, 0, posed=posed)
    row: Row = {"cold_cpu": seconds, "distance": solution.distance}
    for kind, name in ((NULL, "null"), (BOOTSTRAP, "bootstrap")):
        weights = logs.split() if kind == BOOTSTRAP else drawing.weights(NULL, 0)
        drawing.started_from(kind, bm.solve(drawing.problem(weights), quotient=False)).distance(kind, 0)
        began = time.process_time()
        one = drawing.started_from(kind, bm.solve(drawing.problem(weights), tol=1e-8, quotient=False))
        found = [one.distance(kind, k) for k in range(resamples)]
        row[f"{name}_cpu"] = time.process_time() - began
        exact = [bm.solve(one.problem(one.weights(kind, k))).distance for k in range(min(CHECKED, resamples))]
        row[f"{name}_error"] = float(np.max(np.abs(np.array(found[: len(exact)]) / exact - 1.0)))
        row[f"{name}_spread"] = float(np.std(found) / np.mean(found))
    return row


def by_hand_task(successors: int, count: int, resamples: int) -> Row:
    """A bootstrap of whole sessions: ours, and by hand with pandas and `distance`, with the same draws."""
    import pandas as pd
    from scipy import sparse

    from bisimetric.cost.ground import label_mismatch
    from bisimetric.estimation.pooled import pooled
    from bisimetric.estimation.resampling import BOOTSTRAP, Resampling

    both = two_logs(successors, count)
    a, b = (bm.from_trajectories(log, states=range(STATES)) for log in both)
    frames = [
        pd.DataFrame([(k, t, x) for k, walk in enumerate(log) for t, x in enumerate(walk)], columns=["who", "t", "x"])
        for log in both
    ]
    groups = [dict(list(frame.groupby("who"))) for frame in frames]
    logs = pooled(a, b)
    posed = bm.Problem(a, b, discount=DISCOUNT, cost=label_mismatch)
    drawing = Resampling(logs, DISCOUNT, label_mismatch, False, 0, posed=posed)
    bm.distance(a, b, discount=DISCOUNT, cost=bm.cost.label_mismatch)
    drawing.started_from(BOOTSTRAP, bm.solve(drawing.problem(logs.split()), quotient=False)).distance(BOOTSTRAP, 0)

    began = time.process_time()
    near = drawing.started_from(BOOTSTRAP, bm.solve(drawing.problem(logs.split()), tol=1e-8, quotient=False))
    ours = [near.distance(BOOTSTRAP, k) for k in range(resamples)]
    own = time.process_time() - began

    def chain(drawn: list[Any]) -> bm.MarkovChain:
        rows = pd.concat(drawn, keys=range(len(drawn)), names=["draw"]).reset_index("draw")
        after = rows.groupby("draw").x.shift(-1)
        counts = pd.crosstab(rows.x, after).reindex(index=range(STATES), columns=range(STATES), fill_value=0)
        matrix = counts.to_numpy(float).copy()
        matrix[matrix.sum(axis=1) == 0] = np.eye(STATES)[matrix.sum(axis=1) == 0]
        start = rows.groupby("draw").x.first().value_counts(normalize=True).reindex(range(STATES), fill_value=0.0)
        names = [str(k) for k in range(STATES)]
        return bm.MarkovChain.normalised(sparse.csr_array(matrix), start=start.to_numpy(), labels=names)

    few = min(BY_HAND, resamples)
    draws = [drawing.weights(BOOTSTRAP, k) for k in range(few)]
    began = time.process_time()
    theirs = []
    for first, second in draws:
        sides = first[:count], second[count:]
        chains = [
            chain([group[k] for k in np.repeat(np.arange(count), side)])
            for group, side in zip(groups, sides, strict=True)
        ]
        theirs.append(bm.distance(*chains, discount=DISCOUNT, cost=bm.cost.label_mismatch).distance)
    spent = (time.process_time() - began) * resamples / few
    return {
        "cpu": own,
        "by_hand_cpu": spent,
        "difference": float(np.max(np.abs(np.array(ours[:few]) / theirs - 1.0))),
    }


def write_log_task(rows: int, path: str) -> Row:
    """A Parquet file of sessions, in order."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    lengths = 1 + rng.geometric(1.0 / 20, rows // 10)
    lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), rows)) + 1]
    who = np.repeat(np.arange(len(lengths)), lengths)[:rows]
    step = np.arange(rows) - np.concatenate([[0], np.cumsum(lengths)])[who]
    page = rng.integers(0, STATES, rows)
    names = pa.array([f"page {k}" for k in range(STATES)])
    table = pa.table(
        {
            "session": pa.DictionaryArray.from_arrays(who, pa.array([f"s{k:08d}" for k in range(len(lengths))])).cast(
                pa.string()
            ),
            "step": step,
            "page": pa.DictionaryArray.from_arrays(page, names).cast(pa.string()),
        }
    )
    parquet.write_table(table, path)
    return {}


def counting_task(path: str) -> Row:
    """CPU seconds and memory of `from_trajectories` on a Parquet file."""
    import pyarrow.parquet  # noqa: F401 - loaded before memory is looked at

    before = resident_bytes()
    began = time.process_time()
    chain = bm.from_trajectories(path, sequence="session", step="step", state="page")
    return {
        "cpu": time.process_time() - began,
        "bytes": peak_bytes() - before,
        "file_bytes": Path(path).stat().st_size,
        "sequences": chain.n_sequences,
        "transitions": chain.n_transitions,
    }


def groupby_task(path: str) -> Row:
    """CPU seconds and memory of pandas on the same columns: one groupby, and the counts of transitions."""
    import pandas as pd

    before = resident_bytes()
    began = time.process_time()
    frame = pd.read_parquet(path, columns=["session", "step", "page"])
    frame.groupby(["session", "page"], sort=False).size()
    grouped = time.process_time() - began
    after = frame.sort_values(["session", "step"]).groupby("session").page.shift(-1)
    frame.groupby([frame.page, after]).size()
    return {"groupby_cpu": grouped, "counts_cpu": time.process_time() - began, "pandas_bytes": peak_bytes() - before}


def measure(quick: bool, say: Progress) -> list[Row]:
    """Rows of three kinds."""
    rows: list[Row] = []
    resamples = QUICK_RESAMPLES if quick else RESAMPLES
    for successors, count in QUICK_SHAPES if quick else SHAPES:
        case = {"successors": successors, "count": count, "resamples": resamples}
        rows.append({"kind": "resampling"} | case | in_fresh_process("resampling", case))
        say(f"{successors} successors, {count} sessions: {rows[-1]['null_cpu'] / rows[-1]['cold_cpu']:.0f} cold solves")
        rows.append({"kind": "by hand"} | case | in_fresh_process("resampling-by-hand", case))
        say(f"by hand {rows[-1]['by_hand_cpu'] / rows[-1]['cpu']:.1f} times")
    with tempfile.TemporaryDirectory() as folder:
        path, size = f"{folder}/log.parquet", QUICK_ROWS if quick else ROWS
        in_fresh_process("log-file", {"rows": size, "path": path})
        found = in_fresh_process("log-counting", {"path": path}) | in_fresh_process("log-groupby", {"path": path})
        rows.append({"kind": "parquet", "rows": size} | found)
    say(f"{size} rows: {rows[-1]['cpu']:.1f} s CPU, groupby {rows[-1]['groupby_cpu']:.1f} s")
    return rows


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """One table for each kind."""
    chosen = [row for row in rows if row["kind"] == "resampling"]
    if chosen:
        yield Table(
            "Resamples, in cold solves",
            ["successors, sessions", "cold CPU s", "null", "bootstrap", "largest error", "spread"],
            [
                [
                    f"{row['successors']}, {row['count']}",
                    digits(row["cold_cpu"]),
                    f"{row['null_cpu'] / row['cold_cpu']:.0f}×",
                    f"{row['bootstrap_cpu'] / row['cold_cpu']:.0f}×",
                    f"{max(row['null_error'], row['bootstrap_error']):.0e}",
                    f"{min(row['null_spread'], row['bootstrap_spread']):.1%}",
                ]
                for row in chosen
            ],
            [
                f"{chosen[0]['resamples']} resamples of each kind between chains of {STATES} states, with the solve "
                f"that they start from, as multiples of one cold `distance` to 1e-9; γ = {DISCOUNT}.",
                f"Error: relative, of {CHECKED} resamples of each kind against cold solves. Spread: standard deviation "
                "over resamples, relative; the smaller of both kinds.",
            ],
        )
    chosen = [row for row in rows if row["kind"] == "by hand"]
    if chosen:
        yield Table(
            "A bootstrap by hand",
            ["successors, sessions", "ours, CPU s", "by hand", "ratio", "largest difference"],
            [
                [
                    f"{row['successors']}, {row['count']}",
                    digits(row["cpu"]),
                    digits(row["by_hand_cpu"]),
                    f"{row['by_hand_cpu'] / row['cpu']:.0f}",
                    f"{row['difference']:.0e}",
                ]
                for row in chosen
            ],
            [f"{chosen[0]['resamples']} resamples; by hand from {BY_HAND} of them, with the same draws."],
        )
    for row in (row for row in rows if row["kind"] == "parquet"):
        yield Table(
            "A Parquet file",
            ["", "CPU s", "MB"],
            [
                ["from_trajectories", digits(row["cpu"]), digits(row["bytes"] / 1e6)],
                ["pandas: read, one groupby", digits(row["groupby_cpu"]), digits(row["pandas_bytes"] / 1e6)],
                ["pandas: read, groupby, counts of transitions", digits(row["counts_cpu"]), ""],
            ],
            [
                f"{row['rows']} rows, {row['sequences']} sessions, {row['file_bytes'] / 1e6:.0f} MB; memory above what "
                "was there before. Ours keeps the counts of every session, for resampling.",
            ],
        )
