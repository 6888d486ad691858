"""The page of an aggregation: which states go together, on both models, and what the bounds promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric._support.text import discount_text, printable, rounded_up
from bisimetric.bisimulation.aggregation import Aggregation, MDPAggregation
from bisimetric.errors import InvalidOption
from bisimetric.models.mdp import MDP
from bisimetric.views.report.drawings import drawing, shown_names
from bisimetric.views.report.frame import Headline, Page, ScriptedSection

GROUP_SCRIPTS = ("labels.js", "drawing.js", "groups.js")
MOST_MEMBERS = 400  # states of a group that are listed
ARROWS = {
    "left": "←", "right": "→", "up": "↑", "down": "↓", "west": "←", "east": "→", "north": "↑", "south": "↓",
}  # fmt: skip


def aggregation_page(
    answer: Aggregation[Any] | MDPAggregation, *, names: object = None, command: str | None = None
) -> Page:
    """The page of a smaller model."""
    if names is not None and not isinstance(names, str):
        raise InvalidOption(f"names is {names!r:.60}, expected the name of the model, a text")
    n, k = answer.original.n_states, answer.model.n_states
    model = printable(names) if names is not None else f"a {'decision process' if _is_mdp(answer) else 'chain'}"
    return Page(
        title=f"{model}, made smaller" if names is not None else f"{model[0].upper()}{model[1:]}, made smaller",
        headline=Headline.words(f"{n} → {k} states", f"values change by at most {rounded_up(answer.value_bound)}"),
        meaning=_meaning(answer),
        facts=_facts(answer),
        sections=[
            ScriptedSection("groups.html", GROUP_SCRIPTS),
            ScriptedSection("group-list.html", GROUP_SCRIPTS),
            ScriptedSection("group.html", GROUP_SCRIPTS),
        ],
        python=[
            f"# model: the {'decision process' if _is_mdp(answer) else 'chain'} with {n} states",
            f"aggregation = bm.aggregate(model, n_states={k}, discount={answer.discount!r})",
            'aggregation.report("report.html")',
        ],
        command=command,
        data={
            "models": [drawing(answer.original), drawing(answer.model, on_map=False)],
            "map": answer.map.tolist(),
            "groups": _groups(answer),
            "policy": _policy(answer),
        },
    )


def _is_mdp(answer: object) -> bool:
    return isinstance(answer, MDPAggregation)


def _meaning(answer: Aggregation[Any]) -> str:
    value = "optimal discounted reward" if _is_mdp(answer) else "discounted reward"
    distance, change = rounded_up(answer.distance_bound), rounded_up(answer.value_bound)
    text = (
        f"Every state and its group are at a distance of at most {distance} (times 1-γ), so the {value} from any state "
        f"changes by at most {change} when the small model stands for the given one "
        f"(γ = {discount_text(answer.discount)}); both bounds are certified."
    )
    if isinstance(answer, MDPAggregation):
        loss = rounded_up(answer.policy_loss)
        text += f" The small model's best policy, lifted, loses at most {loss} in the given one."
    return text


def _facts(answer: Aggregation[Any]) -> list[list[str]]:
    sizes = np.bincount(answer.map)
    return [
        ["Distance bound", rounded_up(answer.distance_bound)],
        ["Value bound", rounded_up(answer.value_bound)],
        *([["Policy loss", f"at most {rounded_up(answer.policy_loss)}"]] if isinstance(answer, MDPAggregation) else []),
        ["Discount", discount_text(answer.discount)],
        ["Largest group", f"{sizes.max()} {'state' if sizes.max() == 1 else 'states'}"],
        ["States alone", str(int((sizes == 1).sum()))],
    ]


def _groups(answer: Aggregation[Any]) -> list[dict[str, Any]]:
    """The groups, by the number of their state in the small model."""
    names = shown_names(answer.model)
    order = np.argsort(answer.map, kind="stable")
    edges = np.searchsorted(answer.map[order], np.arange(answer.model.n_states + 1))
    return [
        {
            "name": names[k] if names is not None else str(int(order[edges[k]])),
            "size": int(edges[k + 1] - edges[k]),
            "members": order[edges[k] : min(edges[k + 1], edges[k] + MOST_MEMBERS)].tolist(),
        }
        for k in range(answer.model.n_states)
    ]


def _policy(answer: Aggregation[Any]) -> dict[str, Any] | None:
    """The lifted policy: every group's action by name, and a short mark for it."""
    if not isinstance(answer, MDPAggregation) or not isinstance(answer.original, MDP):
        return None
    first = np.zeros(answer.model.n_states, np.int64)
    first[answer.map[::-1]] = np.arange(len(answer.map))[::-1]
    names = [printable(answer.original.action_name(int(answer.policy[state]))) for state in first]
    return {"names": names, "marks": [ARROWS.get(name.lower(), name) for name in names]}
