"""What pictures say about the models and the distances: titles, and the units of colour bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bisimetric.cost import reward_gap
from bisimetric.errors import InvalidOption
from bisimetric.models.mdp import MDP, Model
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.solution import Answer
from bisimetric.views.figures import all_shortened, shortened

LONGEST_TITLE = 46  # characters of a model's name in a title; a longer one keeps both ends


def model_names(solution: Answer, names: Sequence[str] | None = None) -> tuple[str, str]:
    """What to call the two models: the names given, or where the models come from, or how many states they have."""
    if names is None:
        return names_of(solution.models)
    if isinstance(names, str) or len(names) != 2:
        raise InvalidOption(f"names is {names!r}, expected the names of the source and of the target")
    return str(names[0]), str(names[1])


def names_of(models: tuple[Model, Model]) -> tuple[str, str]:
    """Where the two models come from, or how many states they have."""
    source, target = (model.title or described(model) for model in models)
    return source, target


def joined(names: tuple[str, str]) -> str:
    """Two names of models in one line."""
    return " and ".join(all_shortened(names, LONGEST_TITLE))


def described(model: Model) -> str:
    """The kind and the size of a model without a name."""
    kind = "process" if isinstance(model, MDP) else "chain"
    return f"a {kind} of {model.n_states} state{'s' if model.n_states > 1 else ''}"


def is_with_itself(solution: Answer) -> bool:
    """Whether the solution compares a model with itself, from the same start."""
    source, target = solution.models
    return source is target or (source.n_states == target.n_states and source == target)


def headline(solution: Answer, names: Sequence[str] | None = None) -> str:
    """The two models in one line."""
    source, target = model_names(solution, names)
    if is_with_itself(solution) and source == target:
        return f"distances between the states of {shortened(source, LONGEST_TITLE)}"
    return joined((source, target))


def facts(solution: Answer) -> str:
    """The distance between the starts, if there are any, the discount and the certified gap, in one line."""
    meaning = "average cost per step" if isinstance(solution, AverageSolution) else f"γ = {solution.discounting}"
    parts = [meaning, f"certified gap {solution.gap:.1e}"]
    if all(model.start is not None for model in solution.models) and not is_with_itself(solution):
        parts.insert(0, f"distance between the starts {solution.distance:.6g}")
    return ", ".join(parts)


def distance_label(solution: Answer, what: str = "distance") -> str:
    """The label of an axis or colour bar of distances, with their unit where it is known."""
    unit = distance_unit(solution)
    return f"{what} ({unit})" if unit else what


def distance_unit(solution: Answer) -> str:
    """The unit of the distances; empty for an array of costs, which has none that is known."""
    if isinstance(solution, MDPSolution):
        return reward_unit(normalised=True)
    problem: Any = solution.problem  # type: ignore[attr-defined]
    if isinstance(problem, BisimilarityProblem):
        return "probability" if problem.discount == 1.0 else "discounted probability"
    normalised = isinstance(solution, AverageSolution) or getattr(problem, "normalised", False)
    discounted = getattr(problem, "discount", 0.0) < 1.0
    if problem.cost_text:
        return f"{problem.cost_text}, {'per step' if normalised else 'discounted sum' if discounted else 'sum'}"
    return reward_unit(normalised=normalised, discounted=discounted) if problem.cost_name == reward_gap.name else ""


def reward_unit(*, normalised: bool, discounted: bool = True) -> str:
    """The unit of distances by rewards."""
    return "reward per step" if normalised else "discounted sum of rewards" if discounted else "sum of rewards"
