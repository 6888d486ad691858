"""Couplings of a finite horizon as users see them: one law of the successors for every time and pair of states.

Only the values of all times are kept. V_{t+1} determines the best couplings from time t to t + 1, so those of the pairs
that are asked for are computed again, with one transport each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import Immutable
from bisimetric._support.options import as_index, whole
from bisimetric.couplings.coupling import joint_law, states_of
from bisimetric.couplings.witness import successors_of
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats, Mask
from bisimetric.operators.horizon import HorizonBellman
from bisimetric.problems.horizon import HorizonProblem


class _Moves(NamedTuple):
    """Where some pairs of states lead: cell by cell, flat."""

    origin: npt.NDArray[np.int64]
    successor: npt.NDArray[np.int64]
    weight: Floats


@dataclass(frozen=True, slots=True, eq=False)
class HorizonCoupling(Immutable):
    """How two chains move together over a finite horizon.

    coupling[t, x, y] is the joint law of the successors of x and y at time t, and coupling[x, y] that at time 0. Its
    rows and columns sum to P_t[x] and Q_t[y]. States go by index or by name. `solution.coupling` makes it.

    Parameters
    ----------
    problem : HorizonProblem
        The question that the coupling answers.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> bent = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], start=0)
    >>> coupling = bm.solve(bm.HorizonProblem(fair, bent, horizon=3)).coupling
    >>> coupling[1, 0, 0].toarray()
    array([[0.25, 0.25],
           [0.  , 0.5 ]])
    """

    problem: HorizonProblem
    _operator: HorizonBellman
    _value_at: Callable[[int], Floats]  # [n, m], of a time, scaled; raises where it is not kept
    _start_law: Callable[[], Floats]  # joint law of the two starts, [n, m]

    def __getitem__(self, place: tuple[Any, ...]) -> sparse.csr_array:
        time, x, y = self._checked(place)
        pairs = np.zeros(self.problem.shape, np.bool_)
        pairs[x, y] = True
        moves = self._moves(time, pairs)
        to = np.divmod(moves.successor, pairs.shape[1])
        return sparse.csr_array((moves.weight, to), shape=pairs.shape)

    def laws(self, start: object = None) -> Iterator[Floats]:
        """The joint law of the two states at the times 0, …, h, one after the other.

        Parameters
        ----------
        start : pair of states or array [n, m], optional
            Where they start, a pair or a joint law; by default the chains' own starts.

        Returns
        -------
        iterator of [n, m] arrays
            h + 1 of them.
        """
        law = self.law(start)
        yield law
        for time in range(self.problem.horizon):
            moves = self._moves(time, law > 0.0)
            flow = law.ravel()[moves.origin] * moves.weight
            law = np.asarray(np.bincount(moves.successor, flow, law.size), np.float64).reshape(law.shape)
            yield law

    def occupancy(self, start: object = None) -> Floats:
        """The share of the times 0, …, h - 1 that the coupled chains spend at each pair, time t with the weight γ^t.

        Parameters
        ----------
        start : pair of states or array [n, m], optional
            As for `laws`.

        Returns
        -------
        array [n, m]
            Sums to 1.
        """
        total, weight, weights = np.zeros(self.problem.shape), 1.0, 0.0
        for _, law in zip(range(self.problem.horizon), self.laws(start), strict=False):
            total += weight * law
            weights += weight
            weight *= self.problem.discount
        return total / weights

    def simulate(self, seed: int, *, start: object = None) -> npt.NDArray[np.int64]:
        """A random path of the coupled chains.

        Parameters
        ----------
        seed : int
            The same seed gives the same path.
        start : pair of states or array [n, m], optional
            As for `laws`.

        Returns
        -------
        array [h + 1, 2]
            Source and target state at the times 0, …, h.
        """
        random = np.random.default_rng(whole(seed, "seed", at_least=0))
        law = self.law(start)
        m = law.shape[1]
        here = int(random.choice(law.size, p=law.ravel() / law.sum()))
        path = [divmod(here, m)]
        for time in range(self.problem.horizon):
            pairs = np.zeros(law.shape, np.bool_)
            pairs[path[-1]] = True
            moves = self._moves(time, pairs)
            place = np.searchsorted(np.cumsum(moves.weight), random.random() * moves.weight.sum(), side="right")
            path.append(divmod(int(moves.successor[place]), m))
        return np.array(path, np.int64)

    def law(self, start: object) -> Floats:
        """The joint law [n, m] of a pair of states, of an array [n, m], or for None of the chains' starts."""
        if start is None:
            return self._start_law()
        return joint_law(start, self.problem.source, self.problem.target)

    def _moves(self, time: int, pairs: Mask) -> _Moves:
        """Where the pairs of a mask lead from this time to the next."""
        witness = self._operator.couple(time, self._value_at(time + 1), pairs)
        x, y = np.nonzero(pairs)
        cells = witness.cells(0, len(x))
        rows = self.problem.sources[time].transitions, self.problem.targets[time].transitions
        count = np.diff(cells.indptr)
        origin = np.repeat(x * pairs.shape[1] + y, count)
        return _Moves(origin, successors_of(cells, *rows, np.repeat(x, count), np.repeat(y, count)), cells.weight)

    def _checked(self, place: object) -> tuple[int, int, int]:
        """A time and the indices of a source and a target state."""
        if not isinstance(place, (tuple, list)) or len(place) not in (2, 3):
            raise InvalidOption(
                f"{place!r} is no place, expected [time, source state, target state], or a pair of states"
            )
        time = as_index(place[0]) if len(place) == 3 else 0
        if time is None or not 0 <= time < self.problem.horizon:
            raise InvalidOption(f"time is {place[0]!r}, expected a whole number from 0 to {self.problem.horizon - 1}")
        return time, *states_of(place[-2:], self.problem.source, self.problem.target)

    def __repr__(self) -> str:
        n, m = self.problem.shape
        return f"HorizonCoupling({n} x {m} state pairs; coupling[t, x, y] is the joint law of the successors at time t)"
