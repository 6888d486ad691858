"""Make the README's picture: `python docs/figures.py` (needs the `plot` extra)."""

from __future__ import annotations

import ast
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import bisimetric as bm


def on_grid(chain: bm.MarkovChain, values: np.ndarray) -> np.ndarray:
    """Values per state as a picture of the map; walls are NaN. The states' names are their cells."""
    cells = [ast.literal_eval(name) for name in chain.names]
    picture = np.full((max(r for r, _ in cells) + 1, max(c for _, c in cells) + 1), np.nan)
    for cell, value in zip(cells, values, strict=True):
        picture[cell] = value
    return picture


def draw_map(axes: plt.Axes, chain: bm.MarkovChain, title: str) -> None:
    """The rooms of a chain: walls dark, reward and start marked."""
    free = on_grid(chain, np.ones(chain.n_states))
    axes.imshow(np.isnan(free), cmap="Greys", vmin=0, vmax=1.4)
    for marker, values in (("+1", chain.reward), ("start", chain.start)):
        for row, column in np.argwhere(np.nan_to_num(on_grid(chain, values)) > 0):
            axes.text(column, row, marker, ha="center", va="center", fontsize=8 if marker == "start" else 11)
    axes.set_title(title)
    axes.set(xticks=[], yticks=[])


def main() -> None:
    """Two 4-rooms chains, and how far each state of the second is from the first's start."""
    source, target = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    solution = bm.distance(source, target, discount=0.95)
    start = int(np.argmax(source.start))
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(9.6, 3.2), width_ratios=(1, 1, 1.25), layout="constrained"
    )
    draw_map(left, source, "source: p1")
    draw_map(middle, target, "target: p0")
    picture = right.imshow(on_grid(target, solution.value[start]), cmap="viridis")
    right.set_facecolor("0.35")
    right.set_title("distance from the source's start")
    right.set(xlabel="start cell in the target", xticks=[], yticks=[])
    figure.colorbar(picture, ax=right, label="sum of discounted costs, γ = 0.95")
    figure.savefig(Path(__file__).parent / "images" / "four_rooms.png", dpi=110)


if __name__ == "__main__":
    main()
