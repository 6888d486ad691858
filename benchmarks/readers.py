"""Explicit files of a million transitions: CPU seconds against pandas' C reader on the same file, and memory.

Every file has a process of its own. The memory of our reader comes first, before pandas is loaded; then each
reader runs several times, and its fastest run counts: other work on the machine only adds to CPU seconds. Ours makes a
chain or a process of the numbers, pandas a table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import bisimetric as bm
from benchmarks.measure import in_fresh_process, peak_bytes, quickest, resident_bytes
from benchmarks.tables import Row, Table, digits

TRANSITIONS, QUICK_TRANSITIONS = 1_000_000, 100_000
KINDS = {
    "random": "chain, 10 random probabilities a state",
    "equal": "chain, 10 equal probabilities a state",
    "pairs": "chain, 2 successors a state",
    "steps": "chain, 1 successor a state",
    "process": "process, 10 random probabilities a choice",
    "named": "process, the same with names of choices",
}


def write(kind: str, transitions: int, path: Path) -> None:
    """A file in PRISM's form with about this many transitions."""
    rng = np.random.default_rng(0)
    fan = {"pairs": 2, "steps": 1}.get(kind, 10)
    rows, choices = transitions // fan, 2 if kind in ("process", "named") else 1
    n = rows // choices
    gaps = np.cumsum(rng.integers(1, max(n // fan, 2), (rows, fan)), axis=1)
    successors = np.sort((rng.integers(0, n, (rows, 1)) + gaps) % n, axis=1)
    weights = np.ones((rows, fan)) if fan < 10 or kind == "equal" else rng.random((rows, fan))
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    word = {"named": " left"}.get(kind, "")
    with path.open("w") as file:
        file.write(f"{n} {rows} {rows * fan}\n" if choices > 1 else f"{n} {rows * fan}\n")
        for row, (to, ps) in enumerate(zip(successors.tolist(), probabilities.tolist(), strict=True)):
            head = f"{row // choices} {row % choices}" if choices > 1 else str(row)
            name = word if row % 2 else word.replace("left", "right")
            file.writelines(f"{head} {state} {p!r}{name}\n" for state, p in zip(to, ps, strict=True))


def write_task(kind: str, transitions: int, path: str) -> Row:
    """The same in a process of its own, whose memory does not count."""
    write(kind, transitions, Path(path))
    return {}


def reader_task(path: str, small: str, transitions: int) -> Row:
    """Memory and CPU seconds of both readers on a file; the small one is read first, to load what reading needs."""
    bm.from_explicit(small)
    before = resident_bytes()
    bm.from_explicit(path)
    peak = peak_bytes()

    import pandas as pd

    return {
        "file_bytes": Path(path).stat().st_size,
        "cpu": quickest(lambda: bm.from_explicit(path))[1],
        "pandas_cpu": quickest(lambda: pd.read_csv(path, sep=" ", skiprows=1, header=None))[1],
        "bytes_per_transition": (peak - before) / transitions,
    }


def measure(transitions: int, say: Callable[[str], None]) -> list[Row]:
    """One row per kind of file, one thread."""
    rows = []
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            paths = {"small": f"{folder}/small.tra", "path": f"{folder}/model.tra"}
            in_fresh_process("explicit-file", {"kind": kind, "transitions": 1000, "path": paths["small"]})
            in_fresh_process("explicit-file", {"kind": kind, "transitions": transitions, "path": paths["path"]})
            row = {"kind": kind, "transitions": transitions}
            rows.append(row | in_fresh_process("reader", paths | {"transitions": transitions}))
        say(f"{kind}: {rows[-1]['cpu']:.3g} s CPU, pandas {rows[-1]['pandas_cpu']:.3g}")
    return rows


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """CPU seconds, their ratio, and memory."""
    head = ["", "MB", "CPU s", "pandas", "ratio", "bytes a transition"]
    body = [
        [
            KINDS[row["kind"]],
            digits(row["file_bytes"] / 1e6),
            digits(row["cpu"]),
            digits(row["pandas_cpu"]),
            f"{row['cpu'] / row['pandas_cpu']:.2f}",
            digits(row["bytes_per_transition"], 3),
        ]
        for row in rows
    ]
    notes = [
        f"Explicit files (.tra) of {rows[0]['transitions']} transitions, in one process per file; the fastest runs.",
        "Ours ends with a model whose rows are exact, pandas with a table. Memory is the peak above what was there.",
    ]
    yield Table("Explicit files", head, body, notes)
