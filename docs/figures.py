"""Make the README's picture: `python docs/figures.py` (needs the `plot` extra)."""

from __future__ import annotations

from pathlib import Path

import bisimetric as bm


def main() -> None:
    """Two 4-rooms chains, and how far each state of the second is from the first's start."""
    figure = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).plot()
    for axes, title in zip(figure.axes, ("source: p1", "target: p0"), strict=False):
        axes.set_title(title, loc="left", fontsize="medium")
    bm.plot.save(figure, Path(__file__).parent / "images" / "four_rooms.png")


if __name__ == "__main__":
    main()
