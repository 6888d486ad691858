"""Tables and key numbers of the running-time experiment, from its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bisimetric.experiments.experiment import Record, Table
from bisimetric.experiments.methods import CRUDE, FINE, METHODS, TOLERANCES


def rows_at(rows: Sequence[dict[str, Any]], kind: str, discount: float, n: int) -> list[dict[str, Any]]:
    """The rows of all seeds at one place."""
    return [row for row in rows if (row["kind"], row["discount"], row["n"]) == (kind, discount, n)]


def tables(record: Record) -> Sequence[Table]:
    """The authors' settings at the largest size, and the times to each error by size."""
    config = record["config"]
    made: list[Table] = []
    n = config["sizes"][-1]
    head = ["", *(f"γ = {discount:g}" for discount in config["discounts"])]
    for kind in config["kinds"]:
        body = []
        for method in (*METHODS, FINE):
            at = [_statistics(record, kind, discount, n, method) for discount in config["discounts"]]
            body.append([method, *(f"{one['mean']:.2g} ± {one['deviation']:.1g}" for one in at)])
            body.append(["", *(f"({one['median']:.2g}), {100 * one['error']:.2g} %" for one in at)])
        seeds = len(rows_at(record["result"]["paper"], kind, config["discounts"][0], n))
        notes = (f"{seeds} seeds: mean ± standard deviation (median) in CPU seconds, mean error.",)
        made.append(Table(f"Authors' settings, {kind} rows, n = {n}", head, body, notes))
    for kind in config["kinds"]:
        made += [_to_target(record, kind, target) for target in reversed(config["targets"])]
    return made


def _to_target(record: Record, kind: str, target: float) -> Table:
    """CPU seconds to an error: a line for every size and method."""
    config = record["config"]
    head = ["n", "", *(f"{discount:g}" for discount in config["tuned_discounts"])]
    body = []
    for n in config["tuned_sizes"]:
        for method in (*METHODS, CRUDE, FINE):
            times = [median_to(record, kind, discount, n, method, target) for discount in config["tuned_discounts"]]
            body.append([str(n), method, *("–" if seconds is None else f"{seconds:.2g}" for seconds in times)])
    note = f"Medians of {len(config['tuned_seeds'])} seeds (one for n ≥ {config['large']}), by γ."
    missed = f"–: no setting reaches it in {config['limit']:g} s."
    return Table(f"CPU seconds to a true {100 * target:g} %, {kind} rows", head, body, (note, missed))


def _statistics(record: Record, kind: str, discount: float, n: int, method: str) -> dict[str, float]:
    found = [row["methods"][method] for row in rows_at(record["result"]["paper"], kind, discount, n)]
    seconds, errors = ([at[key] for at in found] for key in ("seconds", "error"))
    return {
        "mean": float(np.mean(seconds)),
        "deviation": float(np.std(seconds)),
        "median": float(np.median(seconds)),
        "error": float(np.mean(errors)),
    }


def median_to(record: Record, kind: str, discount: float, n: int, method: str, target: float) -> float | None:
    """The median time to an error; an unreached error counts as infinite, and an infinite median is None."""
    times = [time_to(row, method, target) for row in rows_at(record["result"]["tuned"], kind, discount, n)]
    median = float(np.median([np.inf if np.isnan(seconds) else seconds for seconds in times]))
    return median if np.isfinite(median) else None


def time_to(row: Mapping[str, Any], method: str, target: float) -> float:
    """CPU seconds to an error; NaN if the method does not reach it. The exact solver always does."""
    found = row["methods"][method]
    if method in TOLERANCES:
        return float(found["seconds"])
    return float("nan") if found[str(target)] is None else float(found[str(target)]["seconds"])


def summary(record: Record) -> dict[str, Any]:
    """Both tables as numbers, by kind, method, discount and size; None for an error that is not reached."""
    config = record["config"]
    n = config["sizes"][-1]
    paper = {
        kind: {
            method: {str(discount): _statistics(record, kind, discount, n, method) for discount in config["discounts"]}
            for method in (*METHODS, FINE)
        }
        for kind in config["kinds"]
    }
    tuned = {
        kind: {
            method: {
                str(discount): {
                    str(size): {
                        str(target): median_to(record, kind, discount, size, method, target)
                        for target in config["targets"]
                    }
                    for size in config["tuned_sizes"]
                }
                for discount in config["tuned_discounts"]
            }
            for method in (*METHODS, CRUDE, FINE)
        }
        for kind in config["kinds"]
    }
    return {"n": n, "paper": paper, "seconds_to": tuned}
