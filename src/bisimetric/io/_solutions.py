"""Solutions as documents, and their certificates proved again.

A file's bounds are claims. Its couplings and potentials go to the checker, as every solver's do. Bounds that are
tighter than what the checker finds are refused; where they differ by rounding only, the wider ones are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import frozen
from bisimetric.certificates.check import check, immediate, is_immediate
from bisimetric.certificates.interval import Certificate
from bisimetric.certificates.zeros import CELLS_AT_ONCE
from bisimetric.couplings.witness import StoredWitness, Witness
from bisimetric.errors import FileFormatError, InvalidProblem, InvalidWitness
from bisimetric.io._chains import CHAIN_ARRAYS, CHAIN_KEYS, chain_document, chain_from
from bisimetric.io._document import Document, Stream, stream
from bisimetric.io._fields import Fields
from bisimetric.kernels.layout import Cells
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, offsets
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.reachable import reached
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solution import Solution, Status, Step

PROBLEM_KEYS = ("source", "target", "cost", "cost_error", "discount", "normalised", "stop", "unsolved")
WITNESS_KEYS = ("indptr", "left", "right", "weight", "potential")
SOLUTION_KEYS = (
    "problem", "solver", "status", "history", "value", "lower", "upper", "priced", "scale", "witness",
    "tol",
)  # fmt: skip
SOLUTION_ARRAYS = (
    *(f"problem.{side}.{name}" for side in ("source", "target") for name in CHAIN_ARRAYS),
    "problem.cost", "problem.stop", "problem.unsolved", "value", "lower", "upper", "priced",
    *(f"witness.{key}" for key in WITNESS_KEYS),
)  # fmt: skip
LARGEST_COST_ERROR = 1e-6  # relative; rounding does much less
RECHECK_SLACK = 256 * UNIT_ROUNDOFF  # times max(upper)/(1 - γ): what another processor's rounding may change
SLACK_PER_CELL = 8 * UNIT_ROUNDOFF  # likewise: bounds found on classes of states were widened for shorter sums


def solution_document(solution: Solution) -> Document:
    """The solution's fields."""
    problem, certificate = solution.problem, solution.certificate
    question: Document = {
        "source": chain_document(problem.source),
        "target": chain_document(problem.target),
        "cost": stream(problem.cost, "<f8"),
        "cost_error": problem.cost_error,
        "discount": problem.discount,
        "normalised": problem.normalised,
    }
    if problem.stop is not None:
        question["stop"] = stream(problem.stop, "|b1")
    if problem.unsolved is not None:
        question["unsolved"] = stream(problem.unsolved, "|b1")
    value, lower, upper = (
        bound if problem.unsolved is None else np.where(problem.unsolved, 0.0, bound)  # what a free stop has
        for bound in (certificate.value, certificate.lower, certificate.upper)
    )
    return {
        "problem": question,
        "solver": solution.solver,
        "status": solution.status.name,
        "history": [_written_step(step) for step in solution.history],
        "value": stream(value, "<f8"),
        "lower": stream(lower, "<f8"),
        "upper": stream(upper, "<f8"),
        "priced": stream(solution.checked_value, "<f8"),
        "scale": float(solution.scale),
        "witness": _witness_document(problem, solution.witness),
        **({} if solution.tol is None else {"tol": float(solution.tol)}),
    }


def solution_from(fields: Fields) -> Solution:
    """The solution that the fields describe, with its certificate proved again."""
    problem = _problem(fields.inside("problem", PROBLEM_KEYS))
    value, lower, upper = (fields.floats(key, *problem.shape, least=0.0) for key in ("value", "lower", "upper"))
    claimed = Certificate(value, lower, upper)
    if not ((claimed.lower <= claimed.value) & (claimed.value <= claimed.upper)).all():
        raise FileFormatError("value is not between lower and upper everywhere")
    checked_value = fields.floats("priced", *problem.shape)
    scale = fields.number("scale")
    witness = _witness(fields.inside("witness", WITNESS_KEYS), problem)
    return Solution(
        problem,
        fields.of_kind("solver", str),
        _status(fields),
        tuple(_step(line, k) for k, line in enumerate(fields.of_kind("history", list))),
        _proved_again(problem, claimed, checked_value, scale, witness),
        witness,
        checked_value,
        scale,
        _tol(fields),
    )


def _tol(fields: Fields) -> float | None:
    """Absent in files that were written before it was kept."""
    if not fields.has("tol"):
        return None
    tol = fields.number("tol")
    if not 0.0 < tol < math.inf:
        raise FileFormatError(f"tol is {tol!r}, expected a positive number")
    return tol


def _proved_again(
    problem: Problem, claimed: Certificate, checked_value: Floats, scale: float, witness: Witness
) -> Certificate:
    bellman = Bellman.of(problem)
    at_once = is_immediate(problem)
    expected = 1.0 if at_once else bellman.scale
    if scale != expected:
        raise FileFormatError(f"scale is {scale!r}, expected {expected!r} for this problem")
    try:
        with np.errstate(all="ignore"):  # absurd numbers overflow, and prove nothing
            proved = check(problem, bellman, bellman.scaled_cost() if at_once else checked_value, witness).around()
    except InvalidWitness as error:
        raise FileFormatError(f"the stored couplings are not valid: {error}") from None
    if at_once:
        proved = immediate(problem)
        if not np.array_equal(checked_value, problem.cost):
            raise FileFormatError("priced is not the cost, which is the whole distance in this problem")
    relative = 0.0 if at_once else RECHECK_SLACK + SLACK_PER_CELL * witness.cells_per_pair
    slack = relative * float(proved.upper.max()) / (1.0 - problem.discount)
    if not ((claimed.lower <= proved.lower + slack) & (claimed.upper >= proved.upper - slack)).all():
        raise FileFormatError("the stored bounds are not supported by the stored coupling and potentials")
    lower, upper = np.minimum(claimed.lower, proved.lower), np.maximum(claimed.upper, proved.upper)
    return Certificate(claimed.value, lower, upper, proved.shortfall)


def _problem(fields: Fields) -> Problem:
    source, target = (chain_from(fields.inside(side, CHAIN_KEYS)) for side in ("source", "target"))
    shape = (source.n_states, target.n_states)
    try:
        problem = Problem(
            source,
            target,
            discount=fields.number("discount"),
            cost=fields.floats("cost", *shape),
            stop=fields.mask("stop", *shape) if fields.has("stop") else None,
        )
    except InvalidProblem as error:
        raise FileFormatError(f"problem: {error}") from None
    object.__setattr__(problem, "normalised", fields.of_kind("normalised", bool))  # the cost has the factor already
    if fields.has("unsolved"):
        object.__setattr__(problem, "unsolved", _unsolved(fields, problem))
    off = fields.number("cost_error") if fields.has("cost_error") else 0.0
    if not 0.0 <= off <= LARGEST_COST_ERROR:
        raise FileFormatError(
            f"{fields.name('cost_error')} is {off:g}, expected a number from 0 to {LARGEST_COST_ERROR:g}"
        )
    object.__setattr__(problem, "cost_error", off)
    return problem


def _unsolved(fields: Fields, problem: Problem) -> npt.NDArray[np.bool_]:
    """Pairs that nothing solved depends on: free stops to which the starts do not lead."""
    mask = fields.mask("unsolved", *problem.shape)
    starts = problem.source.start is not None and problem.target.start is not None
    stop = np.zeros(problem.shape, np.bool_) if problem.stop is None else problem.stop.copy()
    if not starts or (mask & ~stop).any() or problem.cost[mask].any() or (mask & reached(problem, stop)).any():
        raise FileFormatError(
            f"{fields.name('unsolved')} marks a pair that has a cost, does not stop or can be reached from the starts"
        )
    return frozen(mask)


def _witness_document(problem: Problem, witness: Witness) -> Document:
    """One pass over the pairs to count the cells, then one for every array as it is written."""
    n, m = problem.shape
    step = max(1, CELLS_AT_ONCE // max(witness.cells_per_pair, 1))
    ranges = [(first, min(first + step, n * m)) for first in range(0, n * m, step)]
    indptr = np.zeros(n * m + 1, np.int64)
    for first, last in ranges:
        indptr[first + 1 : last + 1] = np.diff(witness.cells(first, last).indptr)
    np.cumsum(indptr, out=indptr)

    def cells(key: str, dtype: str, length: int) -> Stream:
        def blocks() -> Iterator[npt.NDArray[Any]]:
            for first, last in ranges:
                array: npt.NDArray[Any] = getattr(witness.cells(first, last), key)
                yield array.astype(dtype, copy=False)

        return Stream(np.dtype(dtype), (length,), blocks)

    count = int(indptr[-1])
    return {
        "indptr": stream(indptr, "<i8"),
        "left": cells("left", "<i4", count),
        "right": cells("right", "<i4", count),
        "weight": cells("weight", "<f8", count),
        "potential": cells("potential", "<f8", n * problem.target.transitions.nnz),
    }


def _witness(fields: Fields, problem: Problem) -> StoredWitness:
    n, m = problem.shape
    sizes_x, sizes_y = (np.diff(chain.transitions.indptr) for chain in (problem.source, problem.target))
    weight = fields.floats("weight", None, least=0.0)
    left, right = (fields.whole(key, len(weight)) for key in ("left", "right"))
    indptr = fields.offsets("indptr", n * m, len(weight))
    if problem.stop is not None and np.diff(indptr)[problem.stop.ravel()].any():
        raise FileFormatError(f"{fields.place} couples the successors of a pair at which the game stops")
    for x in range(n):
        a, b = indptr[x * m], indptr[(x + 1) * m]
        limit = np.repeat(sizes_y, np.diff(indptr[x * m : (x + 1) * m + 1]))
        for key, cells, limits in (("left", left[a:b], sizes_x[x]), ("right", right[a:b], limit)):
            wrong = (cells < 0) | (cells >= limits)
            if wrong.any():
                k = int(wrong.argmax())
                raise FileFormatError(f"{fields.name(key)}[{a + k}] is {cells[k]}, but there is no such successor")
    start = offsets(np.tile(sizes_y, n))
    potential = fields.floats("potential", int(start[-1]))
    return StoredWitness(Cells(indptr, left.astype(np.int32), right.astype(np.int32), weight, start, potential))


def _status(fields: Fields) -> Status:
    name = fields.of_kind("status", str)
    if name not in Status.__members__:
        raise FileFormatError(f"status is {name!r}, expected one of {', '.join(Status.__members__)}")
    return Status[name]


def _step(line: object, k: int) -> Step:
    if isinstance(line, list) and len(line) in (3, len(Step._fields)):
        step, gap, seconds, *facts = line
        gap = math.inf if gap is None else gap
        known = [number for number in (gap, seconds, *facts) if number is not None]
        if type(step) is int and seconds is not None and all(type(number) in (int, float) for number in known):
            try:
                return Step(step, float(gap), float(seconds), *(f if f is None else float(f) for f in facts))
            except OverflowError:
                pass
    raise FileFormatError(f"history[{k}] is not [step, gap, seconds] with a whole number and two numbers")


def _written_step(step: Step) -> list[float | None]:
    """The first three fields, and the others if there are any."""
    line = [int(step.step), _finite(step.gap), float(step.seconds)]
    facts = step[3:]
    return line if all(fact is None for fact in facts) else [*line, *(_finite(fact) for fact in facts)]


def _finite(number: float | None) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None
