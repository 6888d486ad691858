"""From a solution to its gradient: where the distance starts, and how good the coupling is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bisimetric.couplings.gradient import Gradient, StartPotentials, gradient_of, start_potentials
from bisimetric.models.rows import Floats

if TYPE_CHECKING:
    from bisimetric.solving.solution import Answer, Solution


def chain_gradient(solution: Solution, start: object) -> Gradient:
    """The derivatives of the distance from a pair of states, a joint law, or for None from the starts."""
    law = solution.coupling.law(start)
    below = solution.computation.lower
    low = solution.computed_interval[0] if start is None else float((law * below).sum(where=law > 0))
    starts = start_derivatives(solution, start, law)
    return gradient_of(solution.coupling, solution._proof, solution.value, law, starts, low)


def start_derivatives(answer: Answer, start: object, law: Floats) -> StartPotentials | None:
    """The derivatives by the two starts; None if `start` is a joint law, which has no two parts."""
    if start is None:
        found = answer._starts
        source, target = (model.start for model in answer.models)
        assert source is not None
        assert target is not None
        return start_potentials(answer.value, source, target, found.weight, found.potential)
    if isinstance(start, np.ndarray):
        return None
    return start_potentials(answer.value, law.sum(axis=1), law.sum(axis=0), np.ones(1), np.zeros(1))
