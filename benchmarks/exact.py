"""The exact solver by itself: against its prototype, memory a pair, and the first call after an install.

Bisimilar states are not merged here, so that figures are about the pairs that are named.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.measure import in_fresh_process

DISCOUNT = 0.95
TOL = 1e-6
INSTANCES = ("rooms-20", "rooms-32", "dense-50", "dense-100")

Table = list[dict[str, Any]]


def against_prototype(folder: str) -> Table:
    """CPU seconds at the same certified relative gap, one thread each, in turn."""
    rows = []
    for instance in INSTANCES:
        arguments = {"instance": instance, "discount": DISCOUNT, "tol": TOL}
        theirs = in_fresh_process("prototype", {"folder": os.path.abspath(folder), **arguments})
        ours = in_fresh_process("ours", {**arguments, "quotient": False})
        rows.append(
            {
                "instance": instance,
                "ours_cpu_s": round(ours["cpu"], 3),
                "prototype_cpu_s": round(theirs["cpu"], 3),
                "ratio": round(ours["cpu"] / theirs["cpu"], 2),
                "ours_gap": ours["relative_gap"],
                "prototype_gap": theirs["relative_gap"],
            }
        )
    return rows


def memory() -> Table:
    """Peak memory at n ≈ 1000 and n ≈ 2000 at the default tolerance, and the slope between them."""
    runs = [
        in_fresh_process("ours", {"instance": name, "discount": DISCOUNT, "tol": None, "quotient": False})
        for name in ("rooms-32", "rooms-45")
    ]
    slope = (runs[1]["bytes_peak"] - runs[0]["bytes_peak"]) / (runs[1]["pairs"] - runs[0]["pairs"])
    return [
        {
            "pairs": f"{runs[0]['pairs']} to {runs[1]['pairs']}",
            "peak_MB": f"{runs[0]['bytes_peak'] / 1e6:.0f} to {runs[1]['bytes_peak'] / 1e6:.0f}",
            "bytes_a_pair": round(slope),
        }
    ]


def first_call() -> Table:
    """CPU seconds of the README's distance command, with an empty kernel cache and again with a full one."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for cached in (False, True):
            before = os.times()
            command = [
                sys.executable,
                "-m",
                "bisimetric",
                "distance",
                "four-rooms:p1",
                "four-rooms:p0",
                "--discount",
                "0.95",
            ]
            environment = dict(os.environ, BISIMETRIC_CACHE_DIR=cache)
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            after = os.times()
            seconds = after.children_user + after.children_system - before.children_user - before.children_system
            rows.append({"kernels": "cached" if cached else "compiled first", "cpu_s": round(seconds, 2)})
    return rows
