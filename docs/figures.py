"""Make every committed picture, and every table that is computed: `python docs/figures.py` (needs the `plot` extra).

Draws the pictures of README and docs, from the records in docs/reproduction where there is one, and those of
benchmarks/results from the records beside them. Writes the tables of docs/*.md, between the lines
`<!-- table: NAME k -->` and `<!-- end -->`. docs/images/contents.json keeps what each picture shows, as a digest, and a
digest of its file. `--check` compares instead of writing, and exits with 1 where something is stale; it looks at what
is drawn, not at pixels, so any version of matplotlib will do.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bisimetric as bm
from bisimetric.experiments import ALL, read_record

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))
from benchmarks.__main__ import PICTURES, TABLES, drawn  # noqa: E402
from benchmarks.tables import plain  # noqa: E402

from benchmarks import plots  # noqa: E402

IMAGES, RECORDS = DOCS / "images", DOCS / "reproduction"
PAGES = tuple(
    DOCS / f"{name}.md"
    for name in ("reproduction", "is-it-noise", "gradients", "choosing-a-solver", "scaling", "many", "objectives")
)
RESULTS = DOCS.parent / "benchmarks" / "results"
CONTENTS = IMAGES / "contents.json"
TABLE = re.compile(r"<!-- table: ([a-z-]+) (\d+) -->\n.*?<!-- end -->", re.DOTALL)
DIGITS = 5  # to which numbers in a picture are compared


def pictures() -> Iterator[tuple[Path, Any]]:
    """Every picture: its file, and the figure."""
    for name, figure in own_pictures():
        yield IMAGES / name, figure
    for benchmark in PICTURES:
        for name, figure in drawn(json.loads((RESULTS / f"{benchmark}.json").read_text(encoding="utf-8"))):
            yield RESULTS / name, figure
            plots.pyplot().close(figure)


def own_pictures() -> Iterator[tuple[str, Any]]:
    """The pictures in docs/images."""
    solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    yield "four_rooms.png", bm.plot.distances(solution, names=("p1", "p0"))
    yield "aggregation.png", bm.plot.aggregation(bm.aggregate("four-rooms:p1", n_states=8, discount=0.95))
    yield "learning-fit.png", fitted_chain(json.loads((DOCS / "learning" / "fit.json").read_text(encoding="utf-8")))
    for experiment in ALL.values():
        record = read_record(RECORDS / f"{experiment.name}.json")
        for name, figure in experiment.draw(record).items():
            yield f"reproduction-{name}.png", figure


def fitted_chain(record: dict[str, list[float]]) -> Any:
    """A queue before and after its fit, beside the target, and the distance step by step."""
    figure = plots.pyplot().figure(figsize=(8, 3), layout="constrained")
    rates, descent = figure.subplots(1, 2)
    lengths = np.arange(1, len(record["wanted"]) + 1)
    for name, marker, colour in (("wanted", "s", "0.3"), ("before", "o", "C1"), ("after", "^", "C0")):
        rates.plot(lengths, record[name], marker=marker, color=colour, label={"wanted": "target"}.get(name, name))
    rates.set(xlabel="customers in the queue", ylabel="probability of a departure", ylim=(0, 0.7))
    rates.set_title("queue fitted by a small network")
    rates.legend(frameon=False)
    descent.plot(np.arange(1, len(record["loss"]) + 1), record["loss"], color="C0")
    descent.set(xlabel="step", ylabel="distance (customers)", ylim=(0, None))
    descent.set_title("distance to the target queue")
    return figure


def digest_of(figure: Any) -> str:
    """A digest of the texts, curves, points and images of a figure."""
    parts: list[Any] = []
    for axes in figure.axes:
        parts += [
            axes.get_title(loc="left"),
            axes.get_xlabel(),
            axes.get_ylabel(),
            axes.get_xscale(),
            axes.get_yscale(),
        ]
        parts += [text.get_text() for text in axes.texts]
        legend = axes.get_legend()
        parts += [] if legend is None else [text.get_text() for text in legend.get_texts()]
        for line in axes.lines:
            parts += [str(line.get_color()), *(rounded(line.get_data(orig=True)[k]) for k in range(2))]
        offsets = [collection.get_offsets() for collection in axes.collections]
        parts += [rounded(places) for places in offsets if len(places) > 1]  # points; bands and bars have one
        parts += [rounded(image.get_array()) for image in axes.images]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def file_digest(file: Path) -> str:
    """A digest of a file's bytes."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def rounded(values: Any) -> list[str]:
    """Numbers as texts of DIGITS digits; what is nearly 0 is 0."""
    flat = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan).ravel()
    return [f"{0.0 if abs(value) < 10.0**-DIGITS else value:.{DIGITS}g}" for value in flat.tolist()]


def tables_of(name: str) -> Sequence[Any]:
    """The tables of an experiment or of a benchmark, from its record."""
    if name in ALL:
        return ALL[name].tables(read_record(RECORDS / f"{name}.json"))
    rows = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return list(TABLES[name](rows)) if name in TABLES else [plain(name, rows)]


def page_with_tables(page: str) -> str:
    """The page with every table made anew from its record."""

    def made(match: re.Match[str]) -> str:
        name, place = match[1], int(match[2])
        table = tables_of(name)[place]
        rows = [table.head, ["---", *["---:"] * (len(table.head) - 1)], *table.body]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([f"<!-- table: {name} {place} -->", *lines, "<!-- end -->"])

    return TABLE.sub(made, page)


def check() -> list[str]:
    """What is stale: names of pictures, and of the page."""
    kept = json.loads(CONTENTS.read_text())
    stale = set(kept)
    for file, figure in pictures():
        if file.is_file() and kept.get(file.name) == {"shows": digest_of(figure), "file": file_digest(file)}:
            stale.discard(file.name)
        else:
            stale.add(file.name)
    pages = {page: page.read_text(encoding="utf-8") for page in PAGES}
    return sorted(stale) + [page.name for page, text in pages.items() if page_with_tables(text) != text]


def write() -> None:
    """Draw all pictures and write all tables."""
    contents = {}
    for file, figure in pictures():
        plots.write(figure, file) if file.parent == RESULTS else bm.plot.save(figure, file)
        contents[file.name] = {"shows": digest_of(figure), "file": file_digest(file)}
    CONTENTS.write_text(json.dumps(contents, indent=1) + "\n")
    for page in PAGES:
        page.write_text(page_with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> int:
    """Write, or with --check compare."""
    if sys.argv[1:] != ["--check"]:
        write()
        return 0
    stale = check()
    print(f"stale: {', '.join(stale)}; run python docs/figures.py" if stale else "all pictures and tables are fresh")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
