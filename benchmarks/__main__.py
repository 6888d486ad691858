"""Run benchmarks and keep their results.

python -m benchmarks memory
python -m benchmarks threads
python -m benchmarks first-call
python -m benchmarks against-prototype --prototype FOLDER
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks import exact

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Parse, measure, print, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", choices=["memory", "threads", "first-call", "against-prototype"])
    parser.add_argument("--prototype", help="folder of exact_solver_prototype.py")
    options = parser.parse_args()
    if options.name == "against-prototype":
        if options.prototype is None:
            parser.error("against-prototype needs --prototype FOLDER")
        table = exact.against_prototype(options.prototype)
    else:
        table = {"memory": exact.memory, "threads": exact.threads, "first-call": exact.first_call}[options.name]()
    print_table(table)
    versions = {name: version(name) for name in ("bisimetric", "numba", "numpy", "scipy")}
    RESULTS.mkdir(exist_ok=True)
    record = {"benchmark": options.name, "python": platform.python_version(), "versions": versions, "rows": table}
    (RESULTS / f"{options.name}.json").write_text(json.dumps(record, indent=1) + "\n")


def print_table(table: exact.Table) -> None:
    """The rows as text, columns aligned."""
    head = list(table[0])
    lines = [
        head,
        *(
            [f"{value:.2g}" if isinstance(value, float) and value < 1e-3 else str(value) for value in row.values()]
            for row in table
        ),
    ]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    for line in lines:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


if __name__ == "__main__":
    main()
