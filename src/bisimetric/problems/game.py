"""The question about two decision processes: how far apart their states are under all actions.

With D((s, a), (t, b)) = (1-γ)·|r(s, a) - r'(t, b)| + γ·OT_d(P(s, a), P'(t, b)),

    same       d(s, t) = max_a D((s, a), (t, a))                                      Ferns, Panangaden & Precup 2004
    matched    d(s, t) = max( max_a min_b D, max_b min_a D )                          Taylor, Precup & Panangaden 2008

The first needs the same actions in all states of both; the second, the *lax* metric, lets any action answer any
other and takes the distance between the two sets of actions (Hausdorff). Both are games: one player picks the
action, the other the answer and the coupling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable
from bisimetric._support.text import discount_text, printable
from bisimetric._support.viewed import InNotebooks
from bisimetric.cost.ground import DIFFERENCE, NORMALISING, normalise
from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import checked_discount, refuse_overflow

Actions = Literal["same", "matched"]
REMEDY = 'actions="matched" compares them (the lax metric)'


@dataclass(frozen=True, init=False)
class Game(InNotebooks, Immutable):
    """The question how far the states of two decision processes are apart, normalised by 1 - γ; immutable.

    Games with equal processes, discounts and actions are equal and have equal hashes.
    """

    source: MDP
    target: MDP
    discount: float
    actions: Actions
    common: tuple[tuple[int, int], ...]  # index in the source and in the target of every shared action, if "same"

    def __init__(self, source: MDP, target: MDP, *, discount: float, actions: Actions = "same") -> None:
        for role, mdp in (("source", source), ("target", target)):
            if not isinstance(mdp, MDP):
                raise InvalidProblem(f"{role} is a {type(mdp).__name__}, expected an MDP; as_mdp(...) makes one")
        if actions not in ("same", "matched"):
            raise InvalidOption(f"actions is {actions!r}, expected 'same' or 'matched'")
        gamma = checked_discount(discount)
        with np.errstate(over="ignore"):
            spread = max(source.rewards.max(), target.rewards.max()) - min(source.rewards.min(), target.rewards.min())
        refuse_overflow(np.array([spread]), gamma)
        values = {
            "source": source,
            "target": target,
            "discount": gamma,
            "actions": actions,
            "common": _common_actions(source, target) if actions == "same" else (),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m): states of the source and of the target."""
        return self.source.n_states, self.target.n_states

    def gap(self, mine: Floats, theirs: Floats) -> Floats:
        """The cost (1-γ)·|r - r'| between two lists of rewards."""
        difference: Floats = np.subtract.outer(mine, theirs)
        np.abs(difference, out=difference)
        normalise(difference, self.discount)
        return difference

    @property
    def cost_error(self) -> float:
        """The largest relative error of such a cost by rounding; certificates are widened by it."""
        return DIFFERENCE + NORMALISING

    def __repr__(self) -> str:
        n, m = self.shape
        return f"Game({n} x {m} states, {self.actions} actions, discount {discount_text(self.discount)})"


def _common_actions(source: MDP, target: MDP) -> tuple[tuple[int, int], ...]:
    """The actions that all states of both have, by name if both name them; any other action is an error."""
    if source.n_actions != target.n_actions:
        raise InvalidProblem(
            f"the source has {source.n_actions} actions and the target {target.n_actions}, expected the same; {REMEDY}"
        )
    order = list(range(source.n_actions))
    if source.actions is not None and target.actions is not None:
        unknown = [name for name in source.actions if name not in target.actions]
        if unknown:
            raise InvalidProblem(f"the target has no action {unknown[0]!r}, expected the source's actions; {REMEDY}")
        order = [target.actions.index(name) for name in source.actions]
    there = source.available[0]
    _require_everywhere(source, "source", there, source.available)
    _require_everywhere(source, "target", there, target.available[:, order])
    return tuple((int(a), order[a]) for a in np.flatnonzero(there))


def _require_everywhere(names: MDP, role: str, there: npt.NDArray[np.bool_], available: npt.NDArray[np.bool_]) -> None:
    wrong = np.argwhere(available != there)
    if len(wrong):
        s, a = (int(i) for i in wrong[0])
        has, other = ("has", "has not") if available[s, a] else ("lacks", "has it")
        raise InvalidProblem(
            f"state {s} of the {role} {has} action {printable(names.action_name(a))} and state 0 of the source "
            f"{other}, expected the same actions in all states; {REMEDY}"
        )
