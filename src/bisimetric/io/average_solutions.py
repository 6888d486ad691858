"""Average costs as documents, and their certificates proved again.

A file holds h, and the average costs outside the closed classes, as claims. One sweep of transports finds couplings and
potentials for both, and the checker says what they prove. Closed classes are found anew.
"""

from __future__ import annotations

import numpy as np

from bisimetric._support.frozen import changed
from bisimetric.certificates.average import AverageCertificate
from bisimetric.certificates.interval import Certificate
from bisimetric.errors import FileFormatError, InvalidProblem
from bisimetric.io.document import Document, Fields, stream
from bisimetric.io.models import CHAIN_ARRAYS, CHAIN_KEYS, chain_document, chain_from
from bisimetric.io.records import RECHECK_SLACK, RECORD_ARRAYS, RECORD_KEYS, record_document, record_from, wider_bounds
from bisimetric.io.solutions import cost_words
from bisimetric.problems.average import AverageProblem
from bisimetric.solvers.average_iteration import AverageIteration
from bisimetric.solving.average import AverageQuestion
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.question import SolveRecord

LONG_RUN_KEYS = ("source", "target", "cost", "cost_error", "cost_name", "cost_unit", "reward_weight")
AVERAGE_KEYS = ("problem", "priced", "way", *RECORD_KEYS)
AVERAGE_ARRAYS = (
    *(f"problem.{side}.{name}" for side in ("source", "target") for name in CHAIN_ARRAYS),
    "problem.cost", "priced", "way", *RECORD_ARRAYS,
)  # fmt: skip


def average_document(solution: AverageSolution) -> Document:
    """The solution's fields; without `priced` where nothing was solved, without `way` where nothing leads there."""
    problem = solution.problem
    question: Document = {
        "source": chain_document(problem.source),
        "target": chain_document(problem.target),
        "cost": stream(problem.cost, "<f8"),
        "cost_error": problem.cost_error,
        "cost_name": problem.cost_name,
        "cost_unit": problem.cost_unit,
    }
    if problem.reward_weight is not None:
        question["reward_weight"] = problem.reward_weight
    parts = {"priced": solution._closed, "way": solution._way} if problem.cost.any() else {}
    values = {key: stream(part.value, "<f8") for key, part in parts.items() if part is not None}
    return {"problem": question, **values, **record_document(solution, solution.solver, None)}


def average_from(fields: Fields) -> AverageSolution:
    """The solution that the fields describe, with its certificate proved again."""
    problem = _problem(fields.inside("problem", LONG_RUN_KEYS))
    record = record_from(fields, problem.shape)
    question = AverageQuestion(problem, AverageIteration(), False)
    told = SolveRecord(record.solver, record.status, record.history, record.tol)
    at_once = question.immediate()
    if at_once is not None or not fields.has("priced"):
        proved = question.a_priori() if at_once is None else at_once
        return question.answer(told, _wider(record.claimed, proved, problem), None)
    priced = fields.floats("priced", *problem.shape)
    way = fields.floats("way", *problem.shape) if fields.has("way") else None
    with np.errstate(all="ignore"):  # numbers in a file may overflow; they then prove nothing
        iterate = AverageIteration().resumed(question.operator, priced, way)
        proved = question.check(iterate)
    return question.answer(told, _wider(record.claimed, proved, problem), iterate)


def _wider(claimed: Certificate, proved: Certificate, problem: AverageProblem) -> Certificate:
    """The wider bounds, with gaps relative to what they are for averages."""
    slack = RECHECK_SLACK * max(float(problem.cost.max()) / max(float(proved.upper.max()), np.finfo(float).tiny), 1.0)
    found = wider_bounds(claimed, proved, slack, 1.0)
    if not isinstance(proved, AverageCertificate):
        return found
    return AverageCertificate(found.value, found.lower, found.upper, largest_cost=proved.largest_cost)


def _problem(fields: Fields) -> AverageProblem:
    source, target = (chain_from(fields.inside(side, CHAIN_KEYS)) for side in ("source", "target"))
    try:
        problem = AverageProblem(source, target, cost=fields.floats("cost", source.n_states, target.n_states))
    except InvalidProblem as error:
        raise FileFormatError(f"problem: {error}") from None
    return changed(problem, **cost_words(fields, source, target))
