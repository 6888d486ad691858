"""Costs between labels that are sets: how many propositions differ, and which share of all they are.

label_difference = |A Δ B|,        label_jaccard = |A Δ B| / |A ∪ B|,  0 between empty sets
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bisimetric.cost.ground import DIFFERENCE, Named, exact, label_numbers
from bisimetric.models.chain import MarkovChain, compared_labels
from bisimetric.models.rows import Floats, Mask


def _on_sets(distance: Callable[[Floats, Floats], Floats]) -> Callable[[MarkovChain, MarkovChain], Floats]:
    """The cost between labels as sets, from the sizes of their symmetric differences and of their unions.

    A label that is no collection is a set of one.
    """

    def between(source: MarkovChain, target: MarkovChain) -> Floats:
        numbers = label_numbers(source, target)
        labels = dict(zip(numbers[0].tolist(), compared_labels(source.labels) or (), strict=True))
        labels |= dict(zip(numbers[1].tolist(), compared_labels(target.labels) or (), strict=True))
        sets = [set(label) if isinstance(label, tuple) else {label} for _, label in sorted(labels.items())]
        parts = {part: k for k, part in enumerate(dict.fromkeys(part for own in sets for part in own))}
        has = np.zeros((len(sets), len(parts)))
        for k, own in enumerate(sets):
            has[k, [parts[part] for part in own]] = 1.0
        common, sizes = has @ has.T, has.sum(axis=1)
        union = np.add.outer(sizes, sizes) - common
        return distance(union - common, union)[np.ix_(*numbers)]

    return between


def _jaccard(difference: Floats, union: Floats) -> Floats:
    share: Floats = difference / np.maximum(union, 1.0)
    return share


def _rounded_once(source: MarkovChain, target: MarkovChain) -> float:
    return DIFFERENCE


def _share_a_label(source: MarkovChain, target: MarkovChain) -> Mask:
    return _on_sets(_jaccard)(source, target) < 1.0


_difference = _on_sets(lambda difference, _: difference)
label_difference = Named("label_difference", "labels", _difference, exact, reward_weight=0.0, common=_share_a_label)
label_jaccard = Named(
    "label_jaccard", "share of labels", _on_sets(_jaccard), _rounded_once, reward_weight=0.0, common=_share_a_label
)
