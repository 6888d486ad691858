"""The map of a grid: walls, rewards by colour and number, and letters for starts and labels.

The most frequent label is the ground, and a reward that most cells have is said below the map; neither is written into
cells. A letter for a label stands where there is nothing else.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from bisimetric.models.chain import Label, MarkovChain
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats
from bisimetric.views.arrows import TRAPS, draw_arrows, has_arrow
from bisimetric.views.figures import GRID, WALL_GREY, inert, set_texts
from bisimetric.views.grid_cells import GridCells, draw_beside
from bisimetric.views.heat_map import LONGEST_MARK, can_be_read, draw_marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FREE_COLOUR, GAIN, LOSS = "white", "#FFDFA3", "#BFE1F6"  # cells by their reward and its usual size: orange and blue
TRAP_COLOUR = "#7A8B99"  # of holes and cliffs
LINED = 30  # maps of at most this many rows and columns have lines between cells
MARKED = 60  # at most this many rewards or starts are written into a map
MOST_LETTERED = 0.4  # share of the cells that may have letters for labels
MOST_LETTERS = 6  # a map with more labels than this shows none
LONGEST_KEY = 34  # characters of a line below the map
START_WORD = "start"
WIDE = 2  # maps with so many times more columns than rows stand one above the other
SEEN = {"door"}  # labels that a map shows anyway: a door is a gap in a wall


def draw_map(axes: Axes, model: Model, cells: GridCells, title: str, weights: Floats | None = None) -> None:
    """Draw the map of a model: walls in grey, rewards by colour and number, the start as S, labels as letters.

    `weights` [n, A] are how often a policy of a decision process takes each action: its arrows and rewards are shown.
    """
    from matplotlib.colors import ListedColormap, to_rgb

    reward = _rewards(model, weights)
    usual = _ground(reward, cells)
    trap = np.array([label in TRAPS for label in model.labels or [""] * model.n_states])
    colour = np.where(trap, 3, np.where(reward > usual, 1, np.where(reward < usual, 2, 0)))
    tints = [FREE_COLOUR, GAIN, LOSS, TRAP_COLOUR]
    tinted = ListedColormap(tints).with_extremes(bad=WALL_GREY)
    axes.imshow(cells.picture(colour), cmap=tinted, vmin=0, vmax=3, extent=cells.extent, interpolation="nearest")
    if max(cells.shape) <= LINED:
        left, right, bottom, top = cells.extent
        axes.vlines(np.arange(left, right), bottom, top, colors=GRID, linewidth=0.6)
        axes.hlines(np.arange(top, bottom), left, right, colors=GRID, linewidth=0.6)
    draw_beside(axes, cells, np.array([to_rgb(tints[k]) for k in colour]))
    arrows = _with_arrows(model, cells, weights)
    marks, key = _marks(axes, model, np.where(trap, usual, reward), cells, arrows)
    moved = arrows & set(marks)
    draw_marks(axes, cells, marks, np.where(trap, 0.0, 1.0), moved)
    if isinstance(model, MDP) and weights is not None:
        draw_arrows(axes, model, cells, weights, moved)
        key.append("arrows: policy")
    axes.set(xticks=[], yticks=[])
    set_texts(axes, title=title, xlabel=_in_lines(key), ylabel="")


def _with_arrows(model: Model, cells: GridCells, weights: Floats | None) -> set[int]:
    if not isinstance(model, MDP) or weights is None:
        return set()
    return set(np.flatnonzero(has_arrow(model, cells)).tolist())


def _rewards(model: Model, weights: Floats | None) -> Floats:
    """[n], the reward of every state; of a decision process under a policy, else the furthest from 0 of its actions."""
    if isinstance(model, MarkovChain):
        return np.zeros(model.n_states) if model.reward is None else model.reward
    if weights is not None:
        mean: Floats = (weights * np.where(weights > 0, model.rewards, 0.0)).sum(axis=1)
        return mean
    offered = np.where(model.available, model.rewards, 0.0)
    furthest: Floats = offered[np.arange(model.n_states), np.abs(offered).argmax(axis=1)]
    return furthest


def start_marks(start: Floats | None) -> dict[int, str]:
    """S at the starts, if they are not too many to read."""
    starts = np.flatnonzero([] if start is None else start)
    return {int(k): "S" for k in starts} if len(starts) <= MARKED else {}


def _marks(
    axes: Axes, model: Model, reward: Floats, cells: GridCells, arrows: set[int]
) -> tuple[dict[int, str], list[str]]:
    """The texts in the cells, without starts or rewards if they are too many to read, and what they mean."""
    labels = model.labels
    marks = start_marks(model.start)
    key = ["S: start"] if marks else []
    ground = _ground(reward, cells)
    letters = _letters(labels, cells)
    lettered = {k for k, label in enumerate(labels or ()) if label in letters and reward[k] == 0.0}
    rewarded = [int(k) for k in np.flatnonzero(reward != ground) if k not in lettered]
    numbers = {k: f"{marks[k]} {_signed(reward[k])}" if k in marks else _signed(reward[k]) for k in rewarded}
    others = {k: letters[label] for k, label in enumerate(labels or ()) if label in letters and k not in numbers}
    if numbers and len(numbers) <= MARKED and can_be_read(axes, cells, others | numbers, arrows):
        marks |= numbers
        what = "rewards" if isinstance(model, MarkovChain) or arrows else "largest rewards"
        key.append(f"numbers: {what}" + (f", else {_signed(ground)}" if ground else ""))
    elif numbers:
        key += [f"orange: rewards up to {_signed(reward.max())}"] if reward.max() > 0 else []
        key += [f"blue: rewards down to {_signed(reward.min())}"] if reward.min() < 0 else []
    elif ground:
        key.append(f"all rewards {_signed(ground)}")
    free = [k for k, label in enumerate(labels or ()) if label in letters and k not in marks and k not in cells.beside]
    few = len(free) <= min(MARKED, MOST_LETTERED * len(reward))
    used = {labels[k] for k in free} if labels is not None and few else set()
    marks |= {k: letters[labels[k]] for k in free if labels is not None and labels[k] in used}
    key += [f"{letter}: {inert(label, LONGEST_KEY)}" for label, letter in letters.items() if label in used]
    return marks, key


def _ground(reward: Floats, cells: GridCells) -> float:
    """The reward of most cells, 0 if there is none."""
    inside = reward[cells.inside]
    values, counts = np.unique(inside, return_counts=True)
    return float(values[counts.argmax()]) if 2 * counts.max() > len(inside) else 0.0


def _signed(number: float) -> str:
    return f"{number:+.3g}".replace("-", "−")


def _letters(labels: tuple[Label, ...] | None, cells: GridCells) -> dict[Label, str]:
    """A letter, or a few, for every label that is a word, but for the most frequent one."""
    words = Counter(label for k, label in enumerate(labels or ()) if k not in cells.beside)
    if len(words) > MOST_LETTERS + 1 or not all(isinstance(word, str) for word in words):
        return {}
    ground = max(words, key=lambda word: words[word], default=None)
    shown = [str(word) for word in words if word and word != ground and word not in SEEN]
    found: dict[Label, str] = {}
    for word in shown:
        others = [START_WORD, *(other for other in shown if other != word)]
        lengths = range(1, LONGEST_MARK + 1)
        alone = (n for n in lengths if not any(other.lower().startswith(word[:n].lower()) for other in others))
        found[word] = (text := word[: next(alone, LONGEST_MARK)])[:1].upper() + text[1:]
    return found


def _in_lines(key: list[str]) -> str:
    """The explanations, as many on a line as fit."""
    lines = [""]
    for part in key:
        if lines[-1] and len(lines[-1]) + len(part) + 2 > LONGEST_KEY:
            lines[-1] += ","
            lines.append("")
        lines[-1] += f", {part}" if lines[-1] else part
    return "\n".join(lines)
