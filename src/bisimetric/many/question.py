"""What is asked of every pair of chains, and a key of content that two equal questions share.

The numbers depend on the rows, their errors and the starts of both chains, on the array of costs and its error, the
discount, the solver with its options and the tolerance, and on nothing else; names, for example, do not matter. All of
that goes into the key, bit for bit, and so do the sources that compute and the versions of numpy, scipy and numba:
whatever changes, an old answer is not taken for a new one. Only the kind of processor is left out, which may change
last bits.

(P, Q, c) and its mirror image (Q, P, cᵀ) have one distance, but a solver may round them differently. So the chain with
the smaller digest of content always comes first, and numbers do not depend on the order in which chains are given.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import bisimetric
from bisimetric import __version__
from bisimetric.cost import Cost, label_mismatch, reward_gap
from bisimetric.errors import InvalidOption, ToleranceNotReached
from bisimetric.many.store import Numbers
from bisimetric.models.chain import MarkovChain
from bisimetric.operators.reachable import reachable_part
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.solve import solve

KEY_FORMAT = 3  # of what is hashed, and of what the numbers mean
BESIDE = ("cli", "environments", "experiments", "views")  # folders that no number of a given pair depends on
BELOW = ("numpy", "scipy", "numba")


class Asked(NamedTuple):
    """The question for one pair of chains, in the order in which it is solved."""

    problem: Problem
    key: bytes  # 32, that no other pair has under the same question
    is_zero: bool  # a chain and itself, at no cost between equal states: then they stay together at no cost


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Everything but the two chains."""

    discount: float
    cost: npt.ArrayLike | Cost | None
    normalised: bool
    solver: AnySolver
    tol: float | None

    def asked(self, source: MarkovChain, target: MarkovChain) -> Asked:
        """The question for two chains, which is the same as for them the other way round if the cost is symmetric."""
        problem = Problem(source, target, discount=self.discount, cost=self.cost, normalised=self.normalised)
        contents = _content(source), _content(target)
        equal = contents[0] == contents[1]
        if contents[0] > contents[1] or (equal and problem.cost.tobytes() > problem.cost.T.tobytes()):
            problem, contents = problem.part(target, source, problem.cost.T, None), contents[::-1]
        is_zero = equal and not problem.cost.diagonal().any() and not source.merged.any()
        key = hashlib.sha256(repr((problem.shape, problem.cost_error)).encode())
        for part in (*contents, problem.cost.data):
            key.update(part)
        return Asked(problem, key.digest(), is_zero)

    @property
    def cost_is_known(self) -> bool:
        """Whether the cost is one of the package's: symmetric without a look, and cheap to make anywhere."""
        return self.cost is None or self.cost is reward_gap or self.cost is label_mismatch

    def answered(self, problem: Problem) -> Numbers:
        """The distance between two starts: exact solvers look at the pairs of states that matter for it only."""
        asked = reachable_part(problem) if self.solver.open_pairs else problem
        try:
            solution = solve(asked, self.solver, tol=self.tol)
        except ToleranceNotReached as error:
            reached = error.solution
            raise ToleranceNotReached(
                f"relative gap {reached.relative_gap:.2g} after {len(reached.history)} steps, asked for {self.tol:g}: "
                f"{reached.status.value}; raise tol, choose another solver, or take error.solution",
                reached,
            ) from None
        return Numbers(solution.distance, *solution.interval, solution.status)

    def digest(self) -> bytes:
        """32 bytes that no other question has, nor this one asked of other code."""
        setting = (self.discount.hex(), self.normalised, _written(self.solver), _written(self.tol))
        return hashlib.sha256(repr((KEY_FORMAT, computed_by(), setting)).encode()).digest()


@cache
def computed_by() -> str:
    """The code that numbers come from: this version and its sources, and the libraries below it."""
    digest = hashlib.sha256()
    root = Path(bisimetric.__file__).parent
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in BESIDE:
            content = path.read_bytes()
            digest.update(repr((place.as_posix(), len(content))).encode())
            digest.update(content)
    libraries = (f"{name} {metadata.version(name)}" for name in BELOW)  # without importing them
    return ", ".join((f"bisimetric {__version__}", digest.hexdigest(), *libraries))


def _content(chain: MarkovChain) -> bytes:
    """A digest of what a distance depends on in a chain, in one byte order and width."""
    rows = chain.transitions
    assert chain.start is not None
    whole = [array.astype("<i8") for array in (rows.indptr, rows.indices)]
    real = [array.astype("<f8") for array in (rows.data, chain.row_error, chain.merged, chain.start)]
    digest = hashlib.sha256()
    for array in (*whole, *real):
        digest.update(struct.pack("<q", array.size))  # so that no two rows of arrays run into the same bytes
        digest.update(array.data)
    return digest.digest()


def _written(option: object) -> str:
    """An option as text that differs whenever the option does."""
    if option is None or type(option) in (bool, int, float, str):
        return repr(option)
    if isinstance(option, (np.floating, np.integer)):
        return repr(option.item())
    if is_dataclass(option) and not isinstance(option, type):
        kind = type(option)
        inside = (f"{field.name}={_written(getattr(option, field.name))}" for field in fields(option))
        return f"{kind.__module__}.{kind.__qualname__}({', '.join(inside)})"
    raise InvalidOption(
        f"an option of the solver is a {type(option).__name__}, expected numbers and texts, by which finished "
        "pairs can be found again; leave out store="
    )
