"""What is asked of every pair of chains, and a key of content that two equal questions share.

The numbers depend on the rows, their errors and the starts of both chains, on the array of costs, the discount, the
solver with its options and the tolerance, and on nothing else; names, for example, do not matter. All of that, bit for
bit, and the version of this package go into the key, so whatever changes, an old answer is not taken for a new one.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._chain import MarkovChain
from bisimetric._cost import Cost
from bisimetric._errors import InvalidOption
from bisimetric._problem import Problem
from bisimetric._reachable import reachable_part
from bisimetric._solve import solve
from bisimetric._version import __version__
from bisimetric.io._pair_store import Numbers
from bisimetric.solvers import Solver

KEY_FORMAT = 1  # of what is hashed, and of what the numbers mean


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Everything but the two chains."""

    discount: float
    cost: npt.ArrayLike | Cost | None
    normalised: bool
    solver: Solver[Any]
    tol: float | None

    def problem(self, source: MarkovChain, target: MarkovChain) -> Problem:
        """The question for two chains."""
        return Problem(source, target, discount=self.discount, cost=self.cost, normalised=self.normalised)

    def answered(self, source: MarkovChain, target: MarkovChain) -> Numbers:
        """The distance between two starts: exact solvers look at the pairs of states that matter for it only."""
        problem = self.problem(source, target)
        solution = solve(reachable_part(problem) if self.solver.open_pairs else problem, self.solver, tol=self.tol)
        return Numbers(solution.distance, *solution.interval)

    def key(self, source: MarkovChain, target: MarkovChain) -> bytes:
        """32 bytes that no other question has."""
        problem = self.problem(source, target)
        setting = (problem.discount.hex(), problem.normalised, _written(self.solver), _written(self.tol))
        digest = hashlib.sha256(repr((KEY_FORMAT, __version__, problem.shape, setting)).encode())
        for array in (*_parts(source), *_parts(target), problem.cost):
            digest.update(struct.pack("<q", array.size))  # so that no two rows of arrays run into the same bytes
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        return digest.digest()


def _parts(chain: MarkovChain) -> list[npt.NDArray[Any]]:
    """The arrays of a chain that a distance depends on, in one byte order and width."""
    rows = chain.transitions
    assert chain.start is not None
    whole = [array.astype("<i8") for array in (rows.indptr, rows.indices)]
    return whole + [array.astype("<f8") for array in (rows.data, chain.row_error, chain.start)]


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
