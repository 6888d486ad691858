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

from bisimetric._support.frozen import Immutable
from bisimetric._support.options import as_index, whole
from bisimetric._support.text import text_table
from bisimetric._support.viewed import InNotebooks
from bisimetric.couplings.coupling import joint_law, states_of
from bisimetric.couplings.joint_law import (
    COUPLING_HEAD,
    POTENTIALS_HEAD,
    JointLaw,
    coupling_rows,
    first_laws,
    first_pair,
    potential_rows,
)
from bisimetric.couplings.witness import successors_of
from bisimetric.errors import InvalidOption
from bisimetric.kernels.layout import Cells
from bisimetric.models.rows import Floats, Mask
from bisimetric.operators.horizon import HorizonBellman
from bisimetric.problems.horizon import HorizonProblem


class TimedMoves(NamedTuple):
    """Where some pairs of states lead: cell by cell, flat; and the couplings and potentials that say so."""

    origin: npt.NDArray[np.int64]
    successor: npt.NDArray[np.int64]
    weight: Floats
    cells: Cells  # of those pairs, in flat order

    def pushed(self, law: Floats) -> Floats:
        """A law [n, m] after one move; it is zero at all pairs but those."""
        flow = law.ravel()[self.origin] * self.weight
        return np.asarray(np.bincount(self.successor, flow, law.size), np.float64).reshape(law.shape)


@dataclass(frozen=True, slots=True, eq=False)
class HorizonCoupling(InNotebooks, Immutable):
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

    def __getitem__(self, place: tuple[Any, ...]) -> JointLaw:
        time, x, y = timed_place(self.problem, place)
        pairs = np.zeros(self.problem.shape, np.bool_)
        pairs[x, y] = True
        models = self.problem.sources[time], self.problem.targets[time]
        successors = models[0].successors(x), models[1].successors(y)
        return JointLaw.of(
            (self.problem.source, self.problem.target), (x, y), successors, self.moves(time, pairs).cells
        )

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
            law = self.moves(time, law > 0.0).pushed(law)
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

    def simulate(
        self, steps: int | None = None, seed: int | None = None, *, start: object = None
    ) -> npt.NDArray[np.int64]:
        """A random path of the coupled chains.

        Parameters
        ----------
        steps : int, optional
            How many moves, at most the horizon, which is also what None means.
        seed : int
            It has to be given. The same seed gives the same path.
        start : pair of states or array [n, m], optional
            As for `laws`.

        Returns
        -------
        array [steps + 1, 2]
            Source and target state at the times 0, …, steps.
        """
        horizon = self.problem.horizon
        last = horizon if steps is None else whole(steps, "steps", at_least=0, at_most=horizon)
        random = np.random.default_rng(whole(seed, "seed", at_least=0))
        law = self.law(start)
        m = law.shape[1]
        here = int(random.choice(law.size, p=law.ravel() / law.sum()))
        path = [divmod(here, m)]
        for time in range(last):
            pairs = np.zeros(law.shape, np.bool_)
            pairs[path[-1]] = True
            moves = self.moves(time, pairs)
            place = np.searchsorted(np.cumsum(moves.weight), random.random() * moves.weight.sum(), side="right")
            path.append(divmod(int(moves.successor[place]), m))
        return np.array(path, np.int64)

    def law(self, start: object) -> Floats:
        """The joint law [n, m] of a pair of states, of an array [n, m], or for None of the chains' starts."""
        if start is None:
            return self._start_law()
        return joint_law(start, self.problem.source, self.problem.target)

    def moves(self, time: int, pairs: Mask) -> TimedMoves:
        """Where the pairs of a mask [n, m] lead from this time to the next."""
        witness = self._operator.couple(time, self._value_at(time + 1), pairs)
        x, y = np.nonzero(pairs)
        cells = witness.cells(0, len(x))
        rows = self.problem.sources[time].transitions, self.problem.targets[time].transitions
        count = np.diff(cells.indptr)
        origin = np.repeat(x * pairs.shape[1] + y, count)
        to = successors_of(cells, *rows, np.repeat(x, count), np.repeat(y, count))
        return TimedMoves(origin, to, cells.weight, cells)

    def value_at(self, time: int) -> Floats:
        """[n, m], the distances from a time on, times `scale`."""
        return self._value_at(time)

    @property
    def scale(self) -> float:
        """What the distances of `value_at` are multiplied with."""
        return self._operator.scale

    def head(self) -> tuple[str, ...]:
        """The names of the columns of the table that is printed."""
        return COUPLING_HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """Where a few pairs lead at time 0, as text: the start, or the first pair, and what follows."""
        pair = first_pair((self.problem.source, self.problem.target))
        return coupling_rows(first_laws(pair, self.__getitem__))

    def summary(self) -> str:
        """A line about the whole coupling."""
        n, m = self.problem.shape
        return f"{n} x {m} state pairs at time 0; coupling[t, x, y] is the joint law of the successors at time t"

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\n{type(self).__name__}({self.summary()})"


@dataclass(frozen=True, slots=True, eq=False)
class HorizonPotentials(InNotebooks, Immutable):
    """The proof of lower bounds over a finite horizon: potentials[t, x, y] = (f, g) on the successors at time t.

    f + g ≤ L on the successors, L being `solution.at(t + 1).lower` up to rounding, and c_t + γ(<f, P_t[x]> +
    <g, Q_t[y]>) is a lower bound on the distance at time t. potentials[x, y] is about time 0.

    Parameters
    ----------
    problem : HorizonProblem
        The question that they help to answer.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> bent = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], start=0)
    >>> f, g = bm.solve(bm.HorizonProblem(fair, bent, horizon=3)).potentials[1, 0, 0]
    >>> len(f), len(g)
    (2, 2)
    """

    problem: HorizonProblem
    _coupling: HorizonCoupling
    _below: Callable[[int], float]  # by how much the value of a time may be too large, scaled

    def __getitem__(self, place: tuple[Any, ...]) -> tuple[Floats, Floats]:
        time, x, y = timed_place(self.problem, place)
        pairs = np.zeros(self.problem.shape, np.bool_)
        pairs[x, y] = True
        g = self._coupling.moves(time, pairs).cells.potential
        to = np.ix_(self.problem.sources[time].successors(x), self.problem.targets[time].successors(y))
        lower = self._coupling.value_at(time + 1)[to] - self._below(time + 1)
        scale = self._coupling.scale
        return (lower - g).min(axis=1) / scale, g / scale

    def head(self) -> tuple[str, ...]:
        """The names of the columns of the table that is printed."""
        return POTENTIALS_HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """The potentials of one pair at time 0 as text: of the start if there is one, else of the first."""
        source, target = self.problem.source, self.problem.target
        x, y = first_pair((source, target))
        return potential_rows((source, target), (x, y), (source.successors(x), target.successors(y)), self[x, y])

    def summary(self) -> str:
        """A line about all potentials."""
        return "f + g ≤ L at the next time on the successors; potentials[t, x, y] are those of time t"

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\n{type(self).__name__}({self.summary()})"


def timed_place(problem: HorizonProblem, place: object) -> tuple[int, int, int]:
    """A time and the indices of a source and a target state; without a time it is 0."""
    if not isinstance(place, (tuple, list)) or len(place) not in (2, 3):
        raise InvalidOption(f"{place!r} is no place, expected [time, source state, target state], or a pair of states")
    time = as_index(place[0]) if len(place) == 3 else 0
    if time is None or not 0 <= time < problem.horizon:
        raise InvalidOption(f"time is {place[0]!r}, expected a whole number from 0 to {problem.horizon - 1}")
    return time, *states_of(place[-2:], problem.source, problem.target)
