"""What is known about the states of a model besides their moves: rewards and labels, for tooltips and as short marks.

The commonest reward and the commonest label are the ground and have no mark; where most states differ, none has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from bisimetric._support.text import printable
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats

MOST_MARKED = 60  # states with marks for rewards, and as many for labels
MOST_WORDS = 8  # different labels that are written into a drawing
LONGEST_WORD = 10  # characters of a label that is written into a drawing
LONGEST_LABEL = 40  # characters of a label in a tooltip
LABEL_BUDGET = 200_000  # characters of all labels of a model
REWARD_DIGITS = 6


def state_marks(model: Model) -> dict[str, Any]:
    """Rewards and labels of all states, texts to write at some states, and a sentence on what those are."""
    low, high = rewards(model)
    labels = label_texts(model)
    marks: dict[int, list[str]] = {}
    said = []
    shown = _different([_signed(r) for r in _furthest(low, high)]) if low is not None and high is not None else {}
    if shown:
        said.append("numbers are rewards" if not isinstance(model, MDP) else "numbers are rewards furthest from 0")
    words = _different(labels) if labels is not None and len(set(labels)) <= MOST_WORDS else {}
    words = {state: text for state, text in words.items() if 0 < len(text) <= LONGEST_WORD}
    if words:
        said.append("words are labels")
    for state, text in [*words.items(), *shown.items()]:
        marks.setdefault(state, []).append(text)
    return {
        "reward": None if low is None else _few(low),
        "reward_high": _few(high) if isinstance(model, MDP) and high is not None else None,
        "label": labels,
        "marks": [[state, "\n".join(texts)] for state, texts in sorted(marks.items())],
        "key": f"In the drawing {' and '.join(said)}." if said else "",
    }


def rewards(model: Model) -> tuple[Floats | None, Floats | None]:
    """[n] twice, the smallest and the largest reward of every state; of a chain they are the same."""
    if not isinstance(model, MDP):
        return model.reward, model.reward
    low = np.where(model.available, model.rewards, np.inf).min(axis=1)
    high = np.where(model.available, model.rewards, -np.inf).max(axis=1)
    return low, high


def label_texts(model: Model) -> list[str] | None:
    """Every label as text; None if there are none, or if they are too long together."""
    if model.labels is None:
        return None
    texts = [printable(_label_text(label), LONGEST_LABEL) for label in model.labels]
    return texts if any(texts) and sum(map(len, texts)) <= LABEL_BUDGET else None


def _label_text(label: object) -> str:
    if isinstance(label, tuple):  # a set of labels, or an emission
        return ", ".join(map(_label_text, label))
    return f"{label:.4g}" if isinstance(label, float) else str(label)


def _signed(number: float) -> str:
    return f"{number:+.3g}".replace("-", "−") if number else "0"


def _furthest(low: Floats, high: Floats) -> list[float]:
    chosen: list[float] = np.where(np.abs(low) > np.abs(high), low, high).tolist()
    return chosen


def _different(texts: Sequence[str]) -> dict[int, str]:
    """States whose text is not the commonest one, if they are few."""
    ground = max(Counter(texts).items(), key=lambda item: item[1])[0]
    found = {state: text for state, text in enumerate(texts) if text != ground}
    return found if len(found) <= min(MOST_MARKED, 0.6 * len(texts)) else {}


def _few(array: Floats) -> list[float]:
    return [float(f"{number:.{REWARD_DIGITS}g}") for number in array.tolist()]
