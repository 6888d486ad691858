"""The coupling of an average cost as users see it, with the long-run shares of time that it leads to.

From a start the coupled chains end up in recurrent classes of the coupling, and each class has one stationary law μ.
Both follow from expected numbers of visits (`couplings.occupancy`): those to the first recurrent pair, with the rows of
recurrent pairs left out; and those on a tour from one pair of the class back to it, which are proportional to μ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import Immutable
from bisimetric._support.text import text_table
from bisimetric._support.viewed import InNotebooks
from bisimetric.couplings.coupling import Coupling, pair_indices
from bisimetric.couplings.joint_law import POTENTIALS_HEAD, first_pair, potential_rows
from bisimetric.couplings.occupancy import reached, visits
from bisimetric.couplings.witness import Potentiated
from bisimetric.models.recurrence import recurrence
from bisimetric.models.rows import Floats, Ints, Mask
from bisimetric.problems.average import AverageProblem


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LongRunCoupling(Coupling):
    """How two chains move together in the long run: coupling[x, y] is the joint law of the successors of x and y.

    As `Coupling`, but `occupancy` is the share of time in the long run, the mean of the joint laws at all times. Where
    the chains have no starts, it starts at the best pair of states. `solution.coupling` makes it.

    Parameters
    ----------
    problem : AverageProblem
        The question that the coupling answers.

    Examples
    --------
    >>> import bisimetric as bm
    >>> flip = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 1], start=0)
    >>> bm.average_distance(flip, flip).coupling.occupancy()
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    def occupancy_of(self, moves: sparse.csr_array, law: Floats, accuracy: float | None = None) -> Floats:
        """The long-run share of time [n, m] from a joint law [n, m] of the start."""
        inside = reached(moves, law.ravel())
        part = sparse.csr_array(moves[inside][:, inside])
        part.eliminate_zeros()
        found = recurrence(part)
        ends = _first_recurrent(part, law.ravel()[inside], found.transient, accuracy)
        share = np.zeros(law.size)
        for number in range(len(found.period)):
            members = np.flatnonzero(found.class_of == number)
            share[inside[members]] = float(ends[members].sum()) * _stationary(part, members, accuracy)
        return share.reshape(law.shape)


@dataclass(frozen=True, slots=True, eq=False)
class LongRunPotentials(InNotebooks, Immutable):
    """The proof of lower bounds on average costs: potentials[x, y] = (f, g) on the successors of x and of y.

    At pairs of closed classes f + g ≤ h on the successors, and no coupling pays less on average than the smallest
    c + <f, P[x]> + <g, Q[y]> - h of its class. Elsewhere f + g ≤ V, the averages: what is paid there does not count.

    Parameters
    ----------
    problem : AverageProblem
        The question that they help to answer.
    value : array [n, m]
        h at pairs of closed classes, the averages elsewhere; in units of the cost.

    Examples
    --------
    >>> import bisimetric as bm
    >>> lazy, quick = (bm.MarkovChain([[1 - p, p], [p, 1 - p]], reward=[0, 1]) for p in (0.1, 0.5))
    >>> f, g = bm.average_distance(lazy, quick).potentials[0, 1]
    >>> len(f), len(g)
    (2, 2)
    """

    problem: AverageProblem
    value: Floats
    _parts: tuple[Potentiated, Potentiated]  # of closed classes, and elsewhere
    _closed: Mask  # [n, m]

    def __getitem__(self, pair: tuple[int | str, int | str]) -> tuple[Floats, Floats]:
        x, y = pair_indices(self.problem, pair)
        part = self._parts[0 if self._closed[x, y] else 1]
        at = x * self.problem.shape[1] + y
        g = part.witness.cells(at, at + 1).potential
        costs = part.value[np.ix_(self.problem.source.successors(x), self.problem.target.successors(y))]
        return (costs - g).min(axis=1) / part.scale, g / part.scale

    def head(self) -> tuple[str, ...]:
        """The names of the columns of the table that is printed."""
        return POTENTIALS_HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """The potentials of one pair as text: of the start if there is one, else of the first."""
        source, target = self.problem.source, self.problem.target
        x, y = first_pair((source, target))
        return potential_rows((source, target), (x, y), (source.successors(x), target.successors(y)), self[x, y])

    def summary(self) -> str:
        """A line about all potentials."""
        return "f + g ≤ potentials.value on the successors of each pair"

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\n{type(self).__name__}({self.summary()})"


def _first_recurrent(moves: sparse.csr_array, law: Floats, transient: Mask, accuracy: float | None) -> Floats:
    """The probability of each recurrent pair to be the first one; meaningless at the others."""
    if not transient.any():
        return law
    before = sparse.csr_array(sparse.diags_array(transient.astype(np.float64)) @ moves)
    before.eliminate_zeros()
    return visits(before, law, 1.0, closed=False, accuracy=accuracy)


def _stationary(moves: sparse.csr_array, members: Ints, accuracy: float | None) -> Floats:
    """The stationary law of a recurrent class: visits on a tour that begins and ends at its first pair."""
    if len(members) == 1:
        return np.ones(1)
    inside = sparse.csr_array(moves[members][:, members])
    first = np.asarray(inside[[0]].toarray()).ravel()
    keep = np.ones(len(members))
    keep[0] = 0.0
    tour = sparse.csr_array(sparse.diags_array(keep) @ inside)
    tour.eliminate_zeros()
    law = visits(tour, first, 1.0, closed=False, accuracy=accuracy)
    share: Floats = law / law.sum()
    return share
