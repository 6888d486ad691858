"""The question about every pair of chains, the key by which a store finds its answer again, and the outcome of a pair.

The numbers depend on the rows, their errors and the starts of both chains, on the array of costs and its error, the
discount, the solver with its options and the tolerance, and on nothing else; names, for example, do not matter. The key
is a digest of all that, bit for bit, and of the package's computing sources and the versions of numpy, scipy and numba:
when any of them changes, old answers are not used. Only the kind of processor, which may change last bits, is left out.

(P, Q, c) and its mirror image (Q, P, cᵀ) have one distance, but a solver may round them differently. So the chain with
the smaller digest of content always comes first, and numbers do not depend on the order in which chains are given.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import bisimetric
from bisimetric import __version__
from bisimetric._support.content import digest
from bisimetric.cost.ground import Cost, label_mismatch, reward_gap
from bisimetric.errors import InvalidOption, PairFailed, ToleranceNotReached
from bisimetric.many.store import Numbers
from bisimetric.models.chain import MarkovChain
from bisimetric.operators.reachable import reachable_part
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.solve import solve

KEY_FORMAT = 3  # version of the hashed content and of the meaning of the numbers
NOT_COMPUTING = ("cli", "environments", "experiments", "views")  # folders that do not change the numbers of a pair
LIBRARIES = ("numpy", "scipy", "numba")


class PairProblem(NamedTuple):
    """The problem of one pair of chains, with the chains in the order in which it is solved."""

    problem: Problem
    key: bytes  # 32 bytes that no other pair has under the same question
    is_zero: bool  # equal chains with zero cost between equal states: the coupling that keeps them equal is free


@dataclass(frozen=True, slots=True, eq=False)
class PairQuestion:
    """Everything but the two chains."""

    discount: float
    cost: npt.ArrayLike | Cost | None
    normalised: bool
    solver: AnySolver
    tol: float | None

    def pair_problem(self, source: MarkovChain, target: MarkovChain) -> PairProblem:
        """The problem of two chains; swapped chains have the same one if the cost is symmetric."""
        problem = Problem(source, target, discount=self.discount, cost=self.cost, normalised=self.normalised)
        contents = _content(source), _content(target)
        equal = contents[0] == contents[1]
        if contents[0] > contents[1] or (equal and problem.cost.tobytes() > problem.cost.T.tobytes()):
            problem, contents = problem.part(target, source, problem.cost.T, None), contents[::-1]
        itself = not problem.uncertain or source is target  # equal estimates may be of different chains
        is_zero = equal and itself and not problem.cost.diagonal().any() and not source.merged.any()
        key = hashlib.sha256(repr((problem.shape, problem.cost_error, itself)).encode())
        for part in (*contents, problem.cost.data):
            key.update(part)
        return PairProblem(problem, key.digest(), is_zero)

    @property
    def cost_is_known(self) -> bool:
        """Whether the cost is one of this package's, which are symmetric and cheap to compute in any process."""
        return self.cost is None or self.cost is reward_gap or self.cost is label_mismatch

    def answer(self, problem: Problem) -> Numbers:
        """The distance between the starts; exact solvers solve only the pairs of states that the starts reach."""
        part = reachable_part(problem) if self.solver.open_pairs and not problem.uncertain else problem
        try:
            solution = solve(part, self.solver, tol=self.tol)
        except ToleranceNotReached as error:
            reached = error.solution
            raise ToleranceNotReached(
                f"relative gap {reached.relative_gap:.2g} after {len(reached.history)} steps, asked for {self.tol:g}: "
                f"{reached.status.value}; raise tol, choose another solver, or take error.solution",
                reached,
            ) from None
        return Numbers(solution.distance, *solution.interval, solution.status)

    def digest(self) -> bytes:
        """32 bytes that no other question has, and no other version of the code."""
        setting = (self.discount.hex(), self.normalised, _option_text(self.solver), _option_text(self.tol))
        return hashlib.sha256(repr((KEY_FORMAT, computed_by(), setting)).encode()).digest()


@cache
def computed_by() -> str:
    """The code that computes the numbers: this version and its sources, and the libraries that it uses."""
    sources = hashlib.sha256()
    root = Path(bisimetric.__file__).parent
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in NOT_COMPUTING:
            content = path.read_bytes()
            sources.update(repr((place.as_posix(), len(content))).encode())
            sources.update(content)
    libraries = (f"{name} {metadata.version(name)}" for name in LIBRARIES)  # without importing them
    return ", ".join((f"bisimetric {__version__}", sources.hexdigest(), *libraries))


def _content(chain: MarkovChain) -> bytes:
    """A digest of what a distance depends on in a chain: names, labels and rewards are left out."""
    rows = chain.transitions
    assert chain.start is not None
    return digest(
        rows.indptr, rows.indices, rows.data, chain.row_error, chain.merged, chain.start, np.array(chain.start_error)
    )


def _option_text(option: object) -> str:
    """An option as text that differs whenever the option does."""
    if option is None or type(option) in (bool, int, float, str):
        return repr(option)
    if isinstance(option, (np.floating, np.integer)):
        return repr(option.item())
    if is_dataclass(option) and not isinstance(option, type):
        kind = type(option)
        inside = (f"{field.name}={_option_text(getattr(option, field.name))}" for field in fields(option))
        return f"{kind.__module__}.{kind.__qualname__}({', '.join(inside)})"
    raise InvalidOption(
        f"an option of the solver is a {type(option).__name__}, expected numbers and texts, by which finished "
        "pairs can be found again; leave out store="
    )


class Pair(NamedTuple):
    """Two chains with their places in the lists, and their problem where it has been made already."""

    i: int
    j: int
    source: MarkovChain
    target: MarkovChain
    problem: Problem | None = None

    def pose(self, question: PairQuestion) -> Problem:
        """The problem to solve, with the chains in the order in which it is solved."""
        return question.pair_problem(self.source, self.target).problem if self.problem is None else self.problem


class PairOutcome(NamedTuple):
    """The answer to the pair number `number`, or the error that it ended with."""

    number: int
    seconds: float
    numbers: Numbers | None
    error: PairFailed | ToleranceNotReached | None = None


@contextmanager
def name_pair_in_errors(i: int, j: int) -> Iterator[None]:
    """Turn every error inside into one that names this pair."""
    try:
        yield
    except ToleranceNotReached as error:
        raise ToleranceNotReached(f"pair ({i}, {j}): {error}", error.solution, (i, j)) from None
    except Exception as error:
        raise PairFailed(f"pair ({i}, {j}): {type(error).__name__}: {error}", (i, j)) from error


def solve_pair(question: PairQuestion, number: int, pair: Pair) -> PairOutcome:
    """Solve one pair."""
    began = time.perf_counter()
    try:
        with name_pair_in_errors(pair.i, pair.j):
            numbers = question.answer(pair.pose(question))
    except (PairFailed, ToleranceNotReached) as error:
        return PairOutcome(number, time.perf_counter() - began, None, error)
    return PairOutcome(number, time.perf_counter() - began, numbers)
