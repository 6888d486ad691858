"""The question about every pair of models, the key by which a store finds its answer again, and the outcome of a pair.

Models are chains, or decision processes, between which the distance is that of a game (`problems.game`). The numbers
depend on the rows, their errors and the starts of both models, on the array of costs and its error (of a game on the
rewards and actions), the discount, the solver with its options and the tolerance; names of states, for example, do not
matter. The key is a digest of all that, bit for bit, and of the package's computing sources and the versions of numpy,
scipy and numba: when any of them changes, old answers are not used. What may change last bits is left out: the kind of
processor, and which other pairs were solved beside the pair (`chunks`).

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
from bisimetric._support.threads import OutOfTime
from bisimetric.cost.ground import Cost, label_mismatch, reward_gap
from bisimetric.errors import InvalidOption, PairFailed, ToleranceNotReached
from bisimetric.many.store import CODE_BYTES, Numbers
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP, Model
from bisimetric.operators.reachable import reachable_part
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Actions, Game
from bisimetric.solvers.base import AnySolver
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.history import Status
from bisimetric.solving.solution import Answer
from bisimetric.solving.solve import solve

KEY_FORMAT = 4  # version of the hashed content and of the meaning of the numbers
NOT_COMPUTING = ("cli", "environments", "experiments", "views")  # folders that do not change the numbers of a pair
LIBRARIES = ("numpy", "scipy", "numba")


class PairProblem(NamedTuple):
    """The problem of one pair of models, with the models in the order in which it is solved."""

    problem: Problem | Game
    key: bytes  # 32 bytes that no other pair has under the same question
    is_zero: bool  # equal models with zero cost between equal states: the coupling that keeps them equal is free


@dataclass(frozen=True, slots=True, eq=False)
class PairQuestion:
    """Everything but the two models."""

    discount: float
    cost: npt.ArrayLike | Cost | None
    normalised: bool
    solver: AnySolver
    tol: float | None
    actions: Actions | None = None  # how actions of decision processes meet; None between chains

    def pair_problem(self, source: Model, target: Model, contents: tuple[bytes, bytes] | None = None) -> PairProblem:
        """The problem of two models; swapped ones have the same one if the cost is symmetric.

        `contents` are what `content` returns for the two.
        """
        contents = contents or (content(source), content(target))
        if self.cost_is_known and contents[0] > contents[1]:
            source, target, contents = target, source, contents[::-1]
        if self.actions is not None:
            assert isinstance(source, MDP)
            assert isinstance(target, MDP)
            game = Game(source, target, discount=self.discount, actions=self.actions)
            is_zero = contents[0] == contents[1] and not source.merged.any()
            return PairProblem(game, hashlib.sha256(b"".join(contents)).digest(), is_zero)
        assert isinstance(source, MarkovChain)
        assert isinstance(target, MarkovChain)
        problem = Problem(source, target, discount=self.discount, cost=self.cost, normalised=self.normalised)
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

    @property
    def is_batched(self) -> bool:
        """Whether small problems are solved side by side."""
        return self.actions is None and self.solver == PolicyIteration()

    def answer(self, pair: Pair) -> tuple[Numbers, ToleranceNotReached | None]:
        """Solve one pair; exact solvers of chains solve only the pairs of states that the starts reach."""
        problem = pair.pose(self)
        if isinstance(problem, Problem) and self.solver.open_pairs and not problem.uncertain:
            problem = reachable_part(problem)
        solution: Answer = solve(problem, self.solver, tol=self.tol, throw=False)
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return self.verdict(pair, solution)

    def verdict(self, pair: Pair, solution: Answer) -> tuple[Numbers, ToleranceNotReached | None]:
        """The numbers in a solution of a pair, and an error if it missed a tolerance that was given."""
        numbers = Numbers(solution.distance, *solution.interval, solution.status)
        if self.tol is None or solution.reached_tol:
            return numbers, None
        message = (
            f"pair ({pair.i}, {pair.j}): relative gap {solution.relative_gap:.2g} after {len(solution.history)} steps, "
            f"asked for {self.tol:g}: {solution.status.value}; raise tol, choose another solver, or take error.solution"
        )
        return numbers, ToleranceNotReached(message, solution, (pair.i, pair.j))

    def digest(self) -> bytes:
        """32 bytes that no other question has, and no other version of the code; the first 8 tell the code."""
        setting = (
            self.discount.hex(),
            self.normalised,
            self.actions,
            _option_text(self.solver),
            _option_text(self.tol),
        )
        code = hashlib.sha256(repr((KEY_FORMAT, computed_by())).encode()).digest()
        return code[:CODE_BYTES] + hashlib.sha256(code + repr(setting).encode()).digest()[CODE_BYTES:]

    def key(self, digest: bytes, pair_key: bytes) -> bytes:
        """The key of a pair in a store: 32 bytes, of which the first 8 tell the code that computed its numbers."""
        return digest[:CODE_BYTES] + hashlib.sha256(digest + pair_key).digest()[CODE_BYTES:]


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


def content(model: Model) -> bytes:
    """A digest of what a distance depends on in a model, without names of states and labels.

    Rewards of a chain are left out too: they count through the array of costs. Actions of decision processes meet
    by their names.
    """
    assert model.start is not None
    if isinstance(model, MDP):
        rows = [part for matrix in model.transitions for part in (matrix.indptr, matrix.indices, matrix.data)]
        numbers = digest(*rows, model.rewards, model.available, model.row_error, model.merged, model.start)
        return hashlib.sha256(numbers + repr((model.rewards.shape, model.actions)).encode()).digest()
    matrix = model.transitions
    error = np.array(model.start_error)
    return digest(matrix.indptr, matrix.indices, matrix.data, model.row_error, model.merged, model.start, error)


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
    """Two models with their places in the lists, and their problem where it has been made already."""

    i: int
    j: int
    source: Model
    target: Model
    problem: Problem | Game | None = None

    def pose(self, question: PairQuestion) -> Problem | Game:
        """The problem to solve, with the models in the order in which it is solved."""
        return question.pair_problem(self.source, self.target).problem if self.problem is None else self.problem


class PairOutcome(NamedTuple):
    """The answer to the pair number `number`, the error that it ended with, or both where a tolerance was missed."""

    number: int
    seconds: float
    numbers: Numbers | None
    error: PairFailed | ToleranceNotReached | None = None


@contextmanager
def name_pair_in_errors(i: int, j: int) -> Iterator[None]:
    """Turn every error inside into one that names this pair."""
    try:
        yield
    except OutOfTime:
        raise
    except Exception as error:
        raise PairFailed(f"pair ({i}, {j}): {type(error).__name__}: {error}", (i, j)) from error


def solve_pair(question: PairQuestion, number: int, pair: Pair) -> PairOutcome:
    """Solve one pair."""
    began = time.perf_counter()
    try:
        with name_pair_in_errors(pair.i, pair.j):
            numbers, missed = question.answer(pair)
    except PairFailed as error:
        return PairOutcome(number, time.perf_counter() - began, None, error)
    return PairOutcome(number, time.perf_counter() - began, numbers, missed)
