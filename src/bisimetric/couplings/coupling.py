"""Couplings and potentials as users see them: views on a witness that compute pair by pair and store nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.frozen import Immutable
from bisimetric._support.text import text_table
from bisimetric._support.viewed import InNotebooks
from bisimetric.couplings.joint_law import (
    COUPLING_HEAD,
    POTENTIALS_HEAD,
    JointLaw,
    coupling_rows,
    first_laws,
    first_pair,
    potential_rows,
)
from bisimetric.couplings.lifted import LiftedWitness
from bisimetric.couplings.occupancy import visits
from bisimetric.couplings.witness import Proof, Witness
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain, state_index
from bisimetric.models.rows import ROW_SUM_TOL, Floats, offsets, real_array
from bisimetric.operators.bellman import as_rows
from bisimetric.problems.discounted import Problem

CELLS_PER_BLOCK = 2**22  # of couplings that are read in one block


@dataclass(frozen=True, slots=True, eq=False)
class Coupling(InNotebooks, Immutable):
    """How the two chains move together: coupling[x, y] is the joint law of the successors of x and y.

    Its rows and columns sum to P[x] and Q[y]. States go by index or by name. Nothing is stored: laws are computed when
    they are asked for. `solution.coupling` is the one whose value proves `solution.upper`.

    Parameters
    ----------
    problem : Problem
        The question that the coupling answers.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], names=["toss", "done"], start=0)
    >>> bent = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], names=["toss", "done"], start=0)
    >>> coupling = bm.distance(fair, bent, discount=0.9).coupling
    >>> coupling["toss", "toss"].toarray()
    array([[0.25, 0.25],
           [0.  , 0.5 ]])
    """

    problem: Problem
    _witness: Witness
    _start_law: Callable[[], Floats]  # joint law of the two starts, [n, m]

    def __getitem__(self, pair: tuple[int | str, int | str]) -> JointLaw:
        x, y = pair_indices(self.problem, pair)
        m, models = self.problem.shape[1], (self.problem.source, self.problem.target)
        cells = self._witness.cells(x * m + y, x * m + y + 1)
        return JointLaw.of(models, (x, y), (models[0].successors(x), models[1].successors(y)), cells)

    def matrix(self) -> sparse.csr_array:
        """All joint laws as one matrix.

        Returns
        -------
        scipy.sparse.csr_array [n·m, n·m]
            Row and column x·m + y stand for the pair (x, y); rows of pairs that stop are empty.

        Raises
        ------
        NotEnoughMemory
            Before anything is allocated.
        """
        n, m = self.problem.shape
        memory.require(
            24 * n * m * self._witness.cells_per_pair,
            f"the coupling of {n} x {m} state pairs as a matrix",
            "look at single pairs with coupling[x, y]",
        )
        step = max(1, CELLS_PER_BLOCK // max(self._witness.cells_per_pair, 1) // m)
        counts, successors, weights = zip(*(self._rows(x, min(x + step, n)) for x in range(0, n, step)), strict=True)
        indptr = offsets(_joined(counts))
        index_type = np.int32 if max(indptr[-1], n * m) < 2**31 else np.int64
        columns = _joined(successors).astype(index_type, copy=False)
        return sparse.csr_array((_joined(weights), columns, indptr.astype(index_type)), shape=(n * m, n * m))

    def occupancy(self, start: object = None) -> Floats:
        """The discounted share of time that the coupled chains spend at each pair; without a discount the visits.

        Parameters
        ----------
        start : pair of states or array [n, m], optional
            Where they start, a pair or a joint law; by default the chains' own starts.

        Returns
        -------
        array [n, m]
            Sums to 1 if nothing stops. For a bisimilarity distance with discount 1 it is the expected number of visits
            up to the first pair of states with different labels, or that are bisimilar. Errors add up to 1e-10 at most,
            or to what rounding does close to discount 1: 7e-15/(1 - discount). Without a discount they are relative to
            all visits together, and where chains take 10⁴ steps and more, 7e-15 times the steps, 1e-4 at most.

        Raises
        ------
        SolverFailed
            If the errors may be larger.
        """
        return self.occupancy_of(self.moves(), self.law(start))

    def moves(self) -> sparse.csr_array:
        """The matrix of all joint laws, with empty rows where nothing that follows counts.

        Returns
        -------
        scipy.sparse.csr_array [n·m, n·m]
            As `matrix`; rows of pairs of bisimilar states are empty too where there is no discount.
        """
        matrix, ends = self.matrix(), self.problem.ends
        if ends is not None:
            matrix.data[np.repeat(ends.ravel(), np.diff(matrix.indptr))] = 0.0
            matrix.eliminate_zeros()
        return matrix

    def occupancy_of(self, moves: sparse.csr_array, law: Floats, accuracy: float | None = None) -> Floats:
        """The occupancy [n, m] from a joint law [n, m] of the start; `moves` is what `moves()` returns.

        `accuracy` is the accepted 1-norm error, relative to its mass; None: as small as rounding allows.
        """
        discount, ends = self.problem.discount, self.problem.ends
        b = law.ravel() * (1.0 - discount if discount < 1.0 else 1.0)
        closed = ends is None or not ends.any()
        return visits(moves, b, discount, closed=closed, accuracy=accuracy).reshape(law.shape)

    def simulate(self, steps: int, seed: int, *, start: object = None) -> npt.NDArray[np.int64]:
        """A random path of the coupled chains.

        Parameters
        ----------
        steps : int
            How many moves.
        seed : int
            The same seed gives the same path.
        start : pair of states or array [n, m], optional
            As for `occupancy`.

        Returns
        -------
        array [steps + 1, 2]
            Source and target state at every time; shorter if the path meets a pair that stops.
        """
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
            raise InvalidOption(f"steps is {steps!r}, expected a whole number ≥ 0")
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InvalidOption(f"seed is {seed!r}, expected a whole number ≥ 0")
        random = np.random.default_rng(seed)
        law = self.law(start)
        m = law.shape[1]
        here = int(random.choice(law.size, p=law.ravel() / law.sum()))
        path = [divmod(here, m)]
        for _ in range(steps):
            if self.problem.stop is not None and self.problem.stop[path[-1]]:
                break
            _, targets, weight = self._flat_rows(here, here + 1)
            here = int(targets[np.searchsorted(np.cumsum(weight), random.random() * weight.sum(), side="right")])
            path.append(divmod(here, m))
        return np.array(path, np.int64)

    def _rows(self, first: int, last: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
        """Cells per pair, flat successor pairs and weights of all pairs of the source states first..last."""
        if isinstance(self._witness, LiftedWitness):
            return self._witness.flat_rows(first, last)
        m = self.problem.shape[1]
        return self._flat_rows(first * m, last * m)

    def _flat_rows(self, first: int, last: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
        """Cells per pair, flat successor pairs and weights of the pairs first..last."""
        cells = self._witness.cells(first, last)
        n, m = self.problem.shape
        rows = as_rows(self.problem.source.transitions), as_rows(self.problem.target.transitions)
        to = np.empty(len(cells.weight), np.int32 if n * m < 2**31 else np.int64)
        kernels.listing.flat_successors(first, cells.indptr, cells.left, cells.right, *rows, to)
        return np.diff(cells.indptr), to, cells.weight.copy()  # a witness may hand out what it keeps

    def law(self, start: object) -> Floats:
        """The joint law [n, m] of a pair of states, of an array [n, m], or for None of the chains' starts."""
        if start is None:
            return self._start_law()
        law = joint_law(start, self.problem.source, self.problem.target)
        refuse_unsolved(self.problem, law > 0.0)
        return law

    def head(self) -> tuple[str, ...]:
        """The names of the columns of the table that is printed."""
        return COUPLING_HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """Where a few pairs lead as text: the start, or the first pair, and what follows."""
        pair = first_pair((self.problem.source, self.problem.target), self.problem.unsolved)
        return coupling_rows(first_laws(pair, self.__getitem__))

    def summary(self) -> str:
        """A line about the whole coupling."""
        n, m = self.problem.shape
        return f"{n} x {m} state pairs; coupling[x, y] is the joint law of the successors"

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\n{type(self).__name__}({self.summary()})"


@dataclass(frozen=True, slots=True, eq=False)
class Potentials(InNotebooks, Immutable):
    """The proof of a lower bound L on the distances: potentials[x, y] = (f, g) on the successors of x and of y.

    f + g ≤ L on the successors, and L ≤ c + γ(<f, P[x]> + <g, Q[y]>) at every pair. Without a discount (bisimilarity
    distances) L is the value that was checked, the second inequality holds up to a residual, and `solution.lower` is L
    less that residual times the expected number of steps.

    Parameters
    ----------
    problem : Problem
        The question that they help to answer.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[1, 0])
    >>> f, g = bm.solve(bm.Problem(chain, chain, discount=0.5)).potentials[0, 1]
    >>> len(f), len(g)
    (2, 1)
    """

    problem: Problem
    _proof: Proof
    _shortfall: float  # the value checked, less this, is L; in the proof's scale

    def __getitem__(self, pair: tuple[int | str, int | str]) -> tuple[Floats, Floats]:
        m = self.problem.shape[1]
        x, y = pair_indices(self.problem, pair)
        g = self._proof.witness.cells(x * m + y, x * m + y + 1).potential
        costs = self._proof.value[np.ix_(self.problem.source.successors(x), self.problem.target.successors(y))]
        return ((costs - self._shortfall) - g).min(axis=1) / self._proof.scale, g / self._proof.scale

    def head(self) -> tuple[str, ...]:
        """The names of the columns of the table that is printed."""
        return POTENTIALS_HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """The potentials of one pair as text: of the start if there is one, else of the first."""
        source, target = self.problem.source, self.problem.target
        x, y = first_pair((source, target), self.problem.unsolved)
        return potential_rows((source, target), (x, y), (source.successors(x), target.successors(y)), self[x, y])

    def summary(self) -> str:
        """A line about all of them."""
        n, m = self.problem.shape
        return f"{n} x {m} state pairs; potentials[x, y] is (f, g) on the successors"

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\nPotentials({self.summary()})"


def _joined(parts: tuple[npt.NDArray[Any], ...]) -> npt.NDArray[Any]:
    """Arrays one after the other; one array by itself is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def joint_law(start: object, source: MarkovChain, target: MarkovChain) -> Floats:
    """The joint law [n, m] of a pair of states, or of an array [n, m]."""
    shape = source.n_states, target.n_states
    if isinstance(start, np.ndarray) and start.ndim == 2:
        law = real_array(start, "start", InvalidOption, ndim=2)
        if law.shape != shape or law.min() < 0 or not abs(law.sum() - 1) <= ROW_SUM_TOL:
            raise InvalidOption(f"start has shape {law.shape} and sum {law.sum():.12g}, expected {shape} and 1")
        return law
    law = np.zeros(shape)
    law[states_of(start, source, target)] = 1.0
    return law


def pair_indices(problem: Problem, pair: object) -> tuple[int, int]:
    """The indices of a source and a target state, which must have been solved."""
    x, y = states_of(pair, problem.source, problem.target)
    refuse_unsolved(problem, (x, y))
    return x, y


def states_of(pair: object, source: MarkovChain, target: MarkovChain) -> tuple[int, int]:
    """The indices of a source and a target state, each given by index or by name."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidOption(f"{pair!r} is not a pair of states, expected (source state, target state)")
    x = state_index(pair[0], source.n_states, source.names)
    return x, state_index(pair[1], target.n_states, target.names)


def refuse_unsolved(problem: Problem, pairs: tuple[int, int] | npt.NDArray[np.bool_]) -> None:
    """Raise if a pair, or one of those that a mask selects, was not solved: nothing is known there."""
    if problem.unsolved is not None and np.any(problem.unsolved[pairs]):
        raise InvalidOption(
            "the starts do not lead to this pair of states, so pairs='reachable' did not solve it; pairs='all' does"
        )
