"""Ground costs between the states of two chains.

A cost is a function of two chains that returns the [n, m] array of costs between their states. `Problem`, `distance`
and `pairwise` take one, or an array. The costs here also have a name and a unit, which results show, and know how far
rounding moves their entries: certificates are widened by that, so they hold for the chains' rewards and features. An
array, or what another function returns, is taken exactly. Costs can be added and multiplied by positive numbers.

>>> import bisimetric as bm
>>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 3], labels=["safe", "failed"])
>>> bm.cost.reward_gap(chain, chain).tolist()
[[0.0, 3.0], [3.0, 0.0]]
>>> bm.cost.label_mismatch(chain, chain).tolist()
[[0.0, 1.0], [1.0, 0.0]]
>>> (0.5 * bm.cost.reward_gap + bm.cost.label_mismatch)(chain, chain).tolist()
[[0.0, 2.5], [2.5, 0.0]]

`ground` is what such a cost is, its rounding, and the costs from rewards and labels; `label_sets` compares sets of
labels, `vectors` features, `laws` the emissions of hidden Markov models. They import models and nothing above.
"""

from bisimetric.cost.ground import Cost, function, label_mismatch, reward_gap
from bisimetric.cost.label_sets import label_difference, label_jaccard
from bisimetric.cost.laws import emissions
from bisimetric.cost.vectors import features

__all__ = [
    "Cost",
    "emissions",
    "features",
    "function",
    "label_difference",
    "label_jaccard",
    "label_mismatch",
    "reward_gap",
]


def __dir__() -> list[str]:
    return sorted(__all__)
