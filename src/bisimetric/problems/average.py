"""The question about two chains in the long run: the smallest average cost per step of coupled chains.

    g(x, y) = min over couplings of  lim 1/T · Σ_{t < T} E c(X_t, Y_t),        X_0 = x, Y_0 = y

No coupling moves a pair where the independent coupling does not. So the sets of pairs that no coupling leaves, and in
which the independent coupling leads from every pair to every other, are known beforehand: for recurrent classes of the
two chains with periods p and q there are gcd(p, q) of them, one for each difference of phases. g is one number on each
(*closed class*), and what is paid before such a class is reached does not count.

References: O'Connor, McGoff & Nobel 2022; Puterman 1994.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bisimetric.cost.ground import Cost, labels_in_common
from bisimetric.errors import InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.recurrence import Recurrence, recurrence
from bisimetric.models.rows import held_rows
from bisimetric.problems.discounted import Problem, refuse_errors


@dataclass(frozen=True, eq=False, init=False)
class AverageProblem(Problem):
    """The question how far two chains are apart in the long run; immutable. `solve` and `average_distance` answer it.

    Parameters
    ----------
    source, target : MarkovChain
        Chains with n and m states. Any: reducible and periodic ones too.
    cost : [n, m] array, function or None
        The cost of every pair of states, not negative. A function of the two chains returns such an array; None is the
        gap between rewards.

    Attributes
    ----------
    cost_error : float
        The largest relative error of a cost, as in `Problem`.
    cost_name, cost_unit : str
        What the cost is called and measured in, for results; empty for an array.
    discount : float
        1.
    shape : (int, int)
        (n, m), the numbers of states.

    Raises
    ------
    InvalidProblem
        The cost does not fit; or it compares labels (`label_mismatch`, `label_difference`, `label_jaccard`, multiples
        and sums with them), and no recurrent states of the two chains have a label in common.

    Examples
    --------
    >>> import bisimetric as bm
    >>> flip = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 1])
    >>> bm.solve(bm.AverageProblem(flip, flip)).value
    array([[0., 1.],
           [1., 0.]])
    """

    recurrences: tuple[Recurrence, Recurrence] = field(repr=False)  # of the source and of the target

    def __init__(self, source: MarkovChain, target: MarkovChain, *, cost: npt.ArrayLike | Cost | None = None) -> None:
        super().__init__(source, target, discount=0.0, cost=cost)  # checks all; the discount is 1 below
        refuse_errors(self)
        both = recurrence(held_rows(source)), recurrence(held_rows(target))
        recurrent = np.ix_(both[0].states, both[1].states)
        if not all(shared[recurrent].any() for shared in labels_in_common(cost, source, target)):
            raise InvalidProblem(
                "no recurrent states of the two chains have a label in common, so labels differ all the time in the "
                "long run, whatever the coupling; check how labels are spelled, or compare earlier steps: with a "
                "discount, or over a finite horizon"
            )
        object.__setattr__(self, "discount", 1.0)
        object.__setattr__(self, "recurrences", both)

    def __repr__(self) -> str:
        n, m = self.shape
        cost = f", cost {self.cost_text}" if self.cost_text else ""
        return f"AverageProblem({n} x {m} states{cost})"
