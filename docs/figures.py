"""Make the README's picture: `python docs/figures.py` (needs the `plot` extra)."""

from __future__ import annotations

from pathlib import Path

import bisimetric as bm


def main() -> None:
    """Two 4-rooms chains, and how far each state of the second is from the first's start."""
    solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    figure = bm.plot.distances(solution, names=("p1", "p0"))
    bm.plot.save(figure, Path(__file__).parent / "images" / "four_rooms.png")


if __name__ == "__main__":
    main()
