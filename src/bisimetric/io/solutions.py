"""Solutions of chains as documents, and their certificates proved again.

The bounds in a file are claims. Its couplings and potentials go to the checker, as those of every solver do. Claims
that are tighter than what the checker finds are refused; where they differ by rounding only, the wider bounds are kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import changed
from bisimetric.certificates.check import check, immediate
from bisimetric.certificates.interval import Certificate
from bisimetric.couplings.witness import Proof, StoredWitness, Witness
from bisimetric.errors import FileFormatError, InvalidProblem, InvalidWitness
from bisimetric.io.bisimilarity import prove_bisimilarity
from bisimetric.io.document import Document, Fields, stream
from bisimetric.io.models import CHAIN_ARRAYS, CHAIN_KEYS, chain_document, chain_from
from bisimetric.io.records import (
    RECHECK_SLACK,
    RECORD_ARRAYS,
    RECORD_KEYS,
    SLACK_PER_CELL,
    record_document,
    record_from,
    wider_bounds,
)
from bisimetric.io.witnesses import WITNESS_ARRAYS, WITNESS_KEYS, Block, witness_document, witnesses_from
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman, is_immediate
from bisimetric.operators.reachable import reached
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solution import Solution

PROBLEM_KEYS = (
    "source",
    "target",
    "cost",
    "cost_error",
    "discount",
    "normalised",
    "stop",
    "unsolved",
    "bisimilarity",
    "one_chain",
    "cost_name",
    "cost_unit",
    "reward_weight",
)
SOLUTION_KEYS = ("problem", "priced", "scale", "steps", "witness", *RECORD_KEYS)
SOLUTION_ARRAYS = (
    *(f"problem.{side}.{name}" for side in ("source", "target") for name in CHAIN_ARRAYS),
    "problem.cost", "problem.stop", "problem.unsolved", "priced", "steps", *RECORD_ARRAYS, *WITNESS_ARRAYS,
)  # fmt: skip
LARGEST_COST_ERROR = 1e-6  # largest relative error of costs that a file may state; rounding causes much less


def solution_document(solution: Solution) -> Document:
    """The solution's fields."""
    problem, steps = solution.problem, solution._proof.steps
    return {
        "problem": _problem_document(problem),
        **record_document(solution, solution.solver, problem.unsolved),
        "priced": stream(solution._proof.value, "<f8"),
        "scale": float(solution._proof.scale),
        **({} if steps is None else {"steps": stream(steps, "<f8")}),
        "witness": witness_document([(_block(problem), solution._proof.witness)]),
    }


def _problem_document(problem: Problem) -> Document:
    """The chains, and what else the question consists of; for a bisimilarity distance that is a tolerance."""
    question: Document = {"source": chain_document(problem.source), "target": chain_document(problem.target)}
    if problem.uncertain and problem.source is problem.target:
        question["one_chain"] = True
    if isinstance(problem, BisimilarityProblem):
        return {**question, "bisimilarity": problem.tol}
    question |= {
        "cost": stream(problem.cost, "<f8"),
        "cost_error": problem.cost_error,
        "cost_name": problem.cost_name,
        "cost_unit": problem.cost_unit,
        "discount": problem.discount,
        "normalised": problem.normalised,
    }
    if problem.reward_weight is not None:
        question["reward_weight"] = problem.reward_weight
    if problem.stop is not None:
        question["stop"] = stream(problem.stop, "|b1")
    if problem.unsolved is not None:
        question["unsolved"] = stream(problem.unsolved, "|b1")
    return question


def solution_from(fields: Fields) -> Solution:
    """The solution that the fields describe, with its certificate proved again."""
    problem = _problem(fields.inside("problem", PROBLEM_KEYS))
    record = record_from(fields, problem.shape)
    checked_value = fields.floats("priced", *problem.shape)
    scale = fields.number("scale")
    witness = _witness(fields.inside("witness", WITNESS_KEYS), problem)
    proof = Proof(witness, checked_value, scale)
    if isinstance(problem, BisimilarityProblem):
        shape = len(problem.quotient.source.first), len(problem.quotient.target.first)
        proof = proof._replace(steps=fields.floats("steps", *shape, least=0.0) if fields.has("steps") else None)
        certificate = prove_bisimilarity(problem, record.claimed, proof)
    else:
        certificate = _prove(problem.as_given(), record.claimed, checked_value, scale, witness)
        certificate = certificate.without(problem.unsolved)
    given = Solution(
        problem.as_given(), record.solver, record.status, record.history, certificate, proof, record.tol, None
    )
    return given.between_all(problem) if problem.uncertain else given


def _prove(
    problem: Problem, claimed: Certificate, checked_value: Floats, scale: float, witness: Witness
) -> Certificate:
    bellman = Bellman.of(problem)
    at_once = is_immediate(problem)
    expected = 1.0 if at_once else bellman.scale
    if scale != expected:
        raise FileFormatError(f"scale is {scale!r}, expected {expected!r} for this problem")
    try:
        with np.errstate(all="ignore"):  # numbers in a file may overflow; they then prove nothing
            proved = check(problem, bellman, bellman.scaled_cost() if at_once else checked_value, witness).around()
    except InvalidWitness as error:
        raise FileFormatError(f"the stored couplings are not valid: {error}") from None
    if at_once:
        proved = immediate(problem)
        if not np.array_equal(checked_value, problem.cost):
            raise FileFormatError("priced is not the cost, which is the whole distance in this problem")
    slack = 0.0 if at_once else RECHECK_SLACK + SLACK_PER_CELL * witness.cells_per_pair
    return wider_bounds(claimed, proved, slack, 1.0 / (1.0 - problem.discount))


def _problem(fields: Fields) -> Problem:
    source, target = (chain_from(fields.inside(side, CHAIN_KEYS)) for side in ("source", "target"))
    shape = (source.n_states, target.n_states)
    if fields.has("one_chain") and fields.of_kind("one_chain", bool):
        if source != target:
            raise FileFormatError(f"{fields.name('one_chain')} is true, but source and target differ")
        target = source
    try:
        if fields.has("bisimilarity"):
            return _bisimilarity_problem(source, target, fields)
        problem = Problem(
            source,
            target,
            discount=fields.number("discount"),
            cost=fields.floats("cost", *shape),
            stop=fields.mask("stop", *shape) if fields.has("stop") else None,
        )
    except InvalidProblem as error:
        raise FileFormatError(f"problem: {error}") from None
    normalised = fields.of_kind("normalised", bool)  # the cost has the factor already
    unsolved = _unsolved(fields, problem) if fields.has("unsolved") else None
    return changed(problem, normalised=normalised, unsolved=unsolved, **cost_words(fields, source, target))


def cost_words(fields: Fields, source: MarkovChain, target: MarkovChain) -> Document:
    """What a problem says of its cost besides the numbers: their error, a name, a unit, how rewards count."""
    off = fields.number("cost_error") if fields.has("cost_error") else 0.0
    if not 0.0 <= off <= LARGEST_COST_ERROR:
        raise FileFormatError(
            f"{fields.name('cost_error')} is {off:g}, expected a number from 0 to {LARGEST_COST_ERROR:g}"
        )
    name, unit = (fields.of_kind(key, str) if fields.has(key) else "" for key in ("cost_name", "cost_unit"))
    weight = fields.number("reward_weight") if fields.has("reward_weight") else None
    if weight is not None and not 0.0 <= weight < np.inf:
        raise FileFormatError(f"{fields.name('reward_weight')} is {weight:g}, expected a number ≥ 0")
    if weight and (source.reward is None or target.reward is None):
        raise FileFormatError(f"{fields.name('reward_weight')} is {weight:g}, but a chain has no rewards")
    words: Document = {"cost_error": off, "cost_name": name, "cost_unit": unit}
    return words if weight is None else words | {"reward_weight": weight}


def _bisimilarity_problem(source: MarkovChain, target: MarkovChain, fields: Fields) -> BisimilarityProblem:
    tol = fields.number("bisimilarity")
    if not 0.0 <= tol < 1.0:
        raise FileFormatError(f"{fields.name('bisimilarity')} is {tol:g}, expected a tolerance from 0 to 1")
    return BisimilarityProblem(source, target, tol=tol)


def _unsolved(fields: Fields, problem: Problem) -> npt.NDArray[np.bool_]:
    """Pairs that were not solved: free stops that the starts do not reach."""
    mask = fields.mask("unsolved", *problem.shape)
    starts = problem.source.start is not None and problem.target.start is not None
    stop = np.zeros(problem.shape, np.bool_) if problem.stop is None else problem.stop.copy()
    if not starts or (mask & ~stop).any() or problem.cost[mask].any() or (mask & reached(problem, stop)).any():
        raise FileFormatError(
            f"{fields.name('unsolved')} marks a pair that has a cost, does not stop or can be reached from the starts"
        )
    return mask


def _block(problem: Problem) -> Block:
    sizes_x, sizes_y = (np.diff(chain.transitions.indptr) for chain in (problem.source, problem.target))
    return Block(sizes_x, sizes_y)


def _witness(fields: Fields, problem: Problem) -> StoredWitness:
    witness = witnesses_from(fields, [_block(problem)])[0]
    if problem.stop is not None and np.diff(witness.all_cells.indptr)[problem.stop.ravel()].any():
        raise FileFormatError(f"{fields.place} couples the successors of a pair at which the game stops")
    return witness
