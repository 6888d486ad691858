"""Labels and starts as model checkers know them: sets of propositions, and initial states.

A text is a set of one proposition, an empty text or collection is the empty set, and a number is the proposition of its
digits. Different labels have to become different sets.
"""

from __future__ import annotations

import numpy as np

from bisimetric._support.text import printable
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import Label, MarkovChain, checked_start, compared_labels
from bisimetric.models.mdp import MDP

INITIAL_LABEL = "init"  # the label of the states in which a model starts
OTHER_FORMATS = "save it as .npz or .json instead"


def proposition_sets(model: MarkovChain | MDP) -> list[tuple[str, ...]] | None:
    """The propositions of every state, sorted; None without labels."""
    if model.labels is None:
        return None
    found: dict[Label, tuple[str, ...]] = {}
    for label in dict.fromkeys(compared_labels(model.labels) or ()):
        parts = label if isinstance(label, tuple) else (label,)
        found[label] = tuple(sorted({_as_text(part) for part in parts} - {""}))
        for name in found[label]:
            if name == INITIAL_LABEL:
                raise InvalidOption(
                    f"a state has the label {INITIAL_LABEL!r}, which marks the start in this format; rename it"
                )
            if not name.isprintable() or set(name) & set('"\\'):
                raise InvalidOption(f"the label {printable(name)!r} cannot be written in this format; {OTHER_FORMATS}")
    owner: dict[tuple[str, ...], Label] = {}
    for label, names in found.items():
        if owner.setdefault(names, label) is not label:
            raise InvalidOption(
                f"the labels {owner[names]!r} and {label!r} are the same set of propositions; {OTHER_FORMATS}"
            )
    return [found[label] for label in compared_labels(model.labels) or ()]


def initial_states(model: MarkovChain | MDP) -> list[int]:
    """The states in which the model starts, all of them equally likely."""
    if model.start is None:
        return []
    states = np.flatnonzero(model.start)
    uniform = np.zeros(model.n_states)
    uniform[states] = 1.0 / len(states)
    exact = checked_start(uniform, model.n_states, None)
    if exact is None or not np.array_equal(exact, model.start):
        raise InvalidOption(
            f"the start is a distribution over {len(states)} states that are not equally likely, this format has only "
            f"initial states; give it one (model.with_start(state)), or {OTHER_FORMATS}"
        )
    return [int(state) for state in states]


def _as_text(part: object) -> str:
    if isinstance(part, str):
        return part
    number = float(part)  # type: ignore[arg-type]
    return str(int(number)) if np.isfinite(number) and number == int(number) else repr(number)
