"""Run benchmarks and keep their results in benchmarks/results: JSON, a Markdown table and, where it helps, a plot.

python -m benchmarks                all of the below
python -m benchmarks peers          ours against value iteration, policy iteration and a linear program
python -m benchmarks pareto         every method from rough to fine settings: time against error and against size
python -m benchmarks scaling        10³ to 10⁷ pairs of states, one and two threads
python -m benchmarks kernels        policy evaluation against memory bandwidth; a sweep that changes nothing
python -m benchmarks memory         bytes a pair
python -m benchmarks threads        one and two threads: many small problems, 4-rooms, dense chains
python -m benchmarks small          small problems: a loop over distance against solve_many
python -m benchmarks discounts      slow, fast and periodic chains, from γ = 0.95 to 0.99999
python -m benchmarks bisimulation   symmetry, bisimilar states, reachable pairs; refinement of large chains
python -m benchmarks first-call     with an empty and with a full kernel cache
python -m benchmarks sinkhorn       a round of the Sinkhorn solvers against plain NumPy; their memory
python -m benchmarks tuning         the default of the Sinkhorn solvers against plain rounds; error against rounds
python -m benchmarks solvers        all solvers: CPU seconds to an error; a Sinkhorn start for the exact one
python -m benchmarks average        average costs against pyotc's exact method on its own examples
python -m benchmarks readers        explicit files of a million transitions against pandas' C reader
python -m benchmarks gradients      derivatives: their cost, and their errors beside a torch loss
python -m benchmarks reduction      the chains of reduce beside those of aggregate
python -m benchmarks coverage       how often tests and intervals from simulated logs are right
python -m benchmarks many           tables of distances: small chains against a loop, two worker processes against one
python -m benchmarks logs           resamples against cold solves and by hand; counting a large Parquet file

Not part of all:
python -m benchmarks large          10⁶ to 10⁸ pairs of states: time and peak memory; about an hour and 16 GiB
python -m benchmarks sharded        one problem over two workers of a local Ray, and one that is killed; extra ray
python -m benchmarks against-prototype --prototype FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import (
    average,
    bisimulation,
    comparison,
    coverage,
    coverage_pictures,
    discounts,
    exact,
    gradients,
    large,
    logs,
    many,
    plots,
    readers,
    reduction,
    scaling,
    sharded,
    sinkhorn,
    small,
    solvers,
    tuning,
)
from benchmarks.pareto import methods, pictures, race
from benchmarks.pareto import tables as pareto_tables
from benchmarks.tables import Row, Table, plain

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "bisimetric",
    "numba",
    "numpy",
    "scipy",
    "highspy",
    "pandas",
    "pyarrow",
    "POT",
    "torch",
    "ot-markov-distances",
    "pyotc",
)
NAMES = (
    "peers", "pareto", "scaling", "kernels", "memory", "threads", "small", "bisimulation", "first-call", "sinkhorn",
    "tuning", "solvers", "discounts", "readers", "coverage", "logs", "average", "gradients", "reduction",
    "many",
)  # fmt: skip
TABLES: dict[str, Callable[[list[Row]], Iterable[Table]]] = {
    "average": average.tables,
    "scaling": scaling.tables,
    "large": large.tables,
    "sharded": sharded.tables,
    "kernels": lambda rows: [scaling.kernel_table(rows)],
    "bisimulation": bisimulation.tables,
    "sinkhorn": sinkhorn.tables,
    "tuning": tuning.tables,
    "solvers": solvers.tables,
    "discounts": discounts.tables,
    "readers": readers.tables,
    "coverage": coverage.tables,
    "logs": logs.tables,
    "many": many.tables,
    "gradients": gradients.tables,
    "reduction": reduction.tables,
}
TIMED: dict[str, Callable[[list[Row], float], Iterable[Table]]] = {  # tables that show the time limit
    "peers": comparison.tables,
    "pareto": pareto_tables.tables,
}
PICTURES: dict[str, dict[str, Callable[..., Any]]] = {
    "peers": {"peers.png": plots.peers},
    "pareto": {"pareto-error.png": pictures.errors, "pareto-size.png": pictures.sizes},
    "scaling": {"scaling.png": plots.by_size},
    "tuning": {"tuning.png": plots.curves},
    "reduction": {"reduction.png": plots.reductions},
    "coverage": {
        "coverage-power.png": coverage_pictures.power,
        "coverage-intervals.png": coverage_pictures.intervals,
    },
}
SEEDS, QUICK_SEEDS = 3, 1
TIMEOUTS, QUICK_TIMEOUTS = {"peers": 60.0, "pareto": 10.0}, {"peers": 10.0, "pareto": 3.0}


def main() -> None:
    """Parse, measure, write, print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "name", nargs="?", default="all", choices=["all", *NAMES, "large", "sharded", "against-prototype"]
    )
    parser.add_argument("--quick", action="store_true", help="one seed, short time-outs, small sizes: minutes")
    parser.add_argument("--seeds", type=int, help=f"random problems of each kind (default {SEEDS})")
    parser.add_argument("--timeout", type=float, help=f"CPU seconds that a peer may take (default {TIMEOUTS})")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    parser.add_argument("--show", action="store_true", help="measure nothing: tables and plots of the stored results")
    parser.add_argument("--prototype", help="folder of exact_solver_prototype.py")
    options = parser.parse_args()
    if options.name == "against-prototype" and options.prototype is None and not options.show:
        parser.error("against-prototype needs --prototype FOLDER")
    options.seeds = options.seeds or (QUICK_SEEDS if options.quick else SEEDS)
    options.results.mkdir(parents=True, exist_ok=True)
    for name in NAMES if options.name == "all" else [options.name]:
        path = options.results / f"{name}.json"
        record = json.loads(path.read_text()) if options.show else {}
        for record in [] if options.show else measured(name, options):
            keep(record, path)
        show(record, options.results)


def keep(record: dict[str, Any], path: Path) -> None:
    """Write a record in one go, so that an interrupt leaves the previous one whole."""
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(record, indent=1) + "\n")
    beside.replace(path)


def measured(name: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the record of a benchmark; a long one also yields what it has so far, from time to time."""
    settings: dict[str, Any] = {"quick": options.quick}
    timeout = options.timeout or (QUICK_TIMEOUTS if options.quick else TIMEOUTS).get(name, 0.0)
    began = time.perf_counter()
    rows: list[Row]
    instances: Sequence[str]
    if name == "peers":
        settings |= {"seeds": options.seeds, "timeout_cpu_s": timeout, "memory_bytes": comparison.MEMORY}
        settings |= {"discount": comparison.DISCOUNT, "tol": comparison.TOL, "wrong_above": comparison.WRONG}
        families = comparison.QUICK_FAMILIES if options.quick else comparison.FAMILIES
        rows = comparison.measure(families, options.seeds, timeout, _progress)
    elif name == "pareto":
        settings |= {"seeds": options.seeds, "timeout_cpu_s": timeout, "memory_bytes": comparison.MEMORY}
        settings |= {"tol": methods.CERTIFIED, "good_enough": methods.ENOUGH_ERROR}
        rows = []
        for found in race.measure(race.QUICK if options.quick else race.FULL, options.seeds, timeout, _progress):
            rows += found
            yield recorded(name, settings, rows, began)
        return
    elif name == "scaling":
        settings |= {"discount": scaling.DISCOUNT, "tol": scaling.TOL}
        rows = scaling.measure(scaling.QUICK_SIDES if options.quick else scaling.SIDES, _progress)
    elif name == "large":
        settings |= {"discount": large.DISCOUNT, "tol": large.TOL}
        rows = []
        for row in large.measure(large.QUICK_SIDES if options.quick else large.SIDES, _progress):
            rows.append(row)
            yield recorded(name, settings, rows, began)
        return
    elif name == "sharded":
        settings |= {"discount": sharded.DISCOUNT, "tol": sharded.TOL}
        rows = list(sharded.measure(sharded.QUICK_SIDES if options.quick else sharded.SIDES, _progress))
    elif name == "kernels":
        settings |= {"discount": scaling.DISCOUNT, "tol": scaling.TOL}
        instances = scaling.QUICK_KERNEL_INSTANCES if options.quick else scaling.KERNEL_INSTANCES
        rows = scaling.measure_kernels(instances, _progress)
    elif name == "discounts":
        settings |= {"tol": discounts.TOL}
        rows = discounts.measure(discounts.QUICK_INSTANCES if options.quick else discounts.INSTANCES, _progress)
    elif name == "coverage":
        settings |= {"discount": coverage.DISCOUNT, "level": coverage.LEVEL, "confidence": coverage.CONFIDENCE}
        rows = coverage.measure(options.quick, _progress)
    elif name == "average":
        settings |= {"truth": average.TRUTH, "timeout_cpu_s": average.TIMEOUT}
        rows = average.measure(average.QUICK_INSTANCES if options.quick else average.INSTANCES, _progress)
    elif name == "gradients":
        rows = gradients.measure(options.quick, _progress)
    elif name == "reduction":
        rows = reduction.measure(options.quick, _progress)
    elif name == "readers":
        rows = readers.measure(readers.QUICK_TRANSITIONS if options.quick else readers.TRANSITIONS, _progress)
    elif name == "logs":
        settings |= {"discount": logs.DISCOUNT}
        rows = logs.measure(options.quick, _progress)
    elif name == "many":
        settings |= {"discount": many.DISCOUNT, "workers": many.WORKERS}
        rows = many.measure(options.quick, _progress)
    elif name == "bisimulation":
        settings |= {"discount": bisimulation.DISCOUNT, "tol": bisimulation.TOL}
        rows = bisimulation.measure(options.quick, _progress)
    elif name == "sinkhorn":
        settings |= {"discount": sinkhorn.DISCOUNT, "step": sinkhorn.STEP}
        instances = sinkhorn.QUICK_INSTANCES if options.quick else sinkhorn.INSTANCES
        memory = sinkhorn.QUICK_MEMORY_INSTANCES if options.quick else sinkhorn.MEMORY_INSTANCES
        rows = sinkhorn.measure(instances, memory, _progress)
    elif name == "tuning":
        settings |= {"discount": tuning.DISCOUNT}
        rows = tuning.measure(options.quick, _progress)
    elif name == "solvers":
        settings |= {"discount": solvers.DISCOUNT}
        instances = solvers.QUICK_INSTANCES if options.quick else solvers.INSTANCES
        rows = solvers.measure(instances, solvers.QUICK_STARTS if options.quick else solvers.STARTS, _progress)
    elif name == "against-prototype":
        rows = exact.against_prototype(options.prototype)
    else:
        studies: dict[str, Callable[[], list[Row]]] = {
            "memory": exact.memory,
            "threads": lambda: small.threads(options.quick, _progress),
            "small": lambda: small.measure(options.quick, _progress),
            "first-call": exact.first_call,
        }
        rows = studies[name]()
    yield recorded(name, settings, rows, began)


def recorded(name: str, settings: dict[str, Any], rows: list[Row], began: float) -> dict[str, Any]:
    """The rows, and the versions and machine that they were measured with; `began` is a time of `perf_counter`."""
    return {
        "benchmark": name,
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in PACKAGES},
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "load": os.getloadavg()},
        "settings": settings,
        "wall_minutes": round((time.perf_counter() - began) / 60, 1),
        "rows": rows,
    }


def show(record: dict[str, Any], folder: Path) -> None:
    """Print the tables of a record, write them as Markdown, and plot it if there is a plot."""
    name, rows = record["benchmark"], record["rows"]
    if name in TIMED:
        made = list(TIMED[name](rows, record["settings"]["timeout_cpu_s"]))
    else:
        made = list(TABLES[name](rows)) if name in TABLES else [plain(name, rows)]
    print("\n\n".join(table.text() for table in made), end="\n\n")
    (folder / f"{name}.md").write_text("\n\n".join(table.markdown() for table in made) + "\n")
    for picture, figure in drawn(record):
        plots.write(figure, folder / picture)


def drawn(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The pictures of a record: the names of their files, and the figures."""
    name, rows = record["benchmark"], record["rows"]
    limit = [record["settings"]["timeout_cpu_s"]] if name in TIMED else []
    for picture, draw in PICTURES.get(name, {}).items():
        figure = draw(rows, *limit)
        if figure is not None:
            yield picture, figure


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


if __name__ == "__main__":
    main()
