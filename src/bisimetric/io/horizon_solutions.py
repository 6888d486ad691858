"""Answers over a finite horizon as documents; their values are computed again.

All values follow from the terminal cost by one sweep for every step, and nothing shorter proves the bounds. So a file
holds the question and the bounds that it claims, and reading it takes as long as the solve did. Couplings are not
stored: the values determine them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import changed
from bisimetric.errors import FileFormatError, InvalidProblem
from bisimetric.io.document import Document, Fields, kind_of, stream
from bisimetric.io.models import CHAIN_ARRAYS, CHAIN_KEYS, MATRIX_KEYS, chain_document, chain_from, matrix_document
from bisimetric.io.records import RECHECK_SLACK, RECORD_ARRAYS, RECORD_KEYS, record_document, record_from, wider_bounds
from bisimetric.io.solutions import cost_words
from bisimetric.models.chain import MarkovChain
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.problems.steps import Steps
from bisimetric.solvers.backward_induction import BackwardInduction
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.solve import solve

LATER_KEYS = ("transitions", "reward", "labels", "row_error", "merged", "steps")
LATER_ARRAYS = (*(f"transitions.{key}" for key in MATRIX_KEYS[1:]), "reward", "row_error", "merged", "steps")
QUESTION_KEYS = (
    "source", "target", "source_later", "target_later", "horizon", "discount", "costs", "cost_steps", "terminal",
    "cost_error", "cost_name", "cost_unit", "reward_weight",
)  # fmt: skip
HORIZON_KEYS = ("problem", "keep_steps", *RECORD_KEYS)
HORIZON_ARRAYS = (
    *(f"problem.{side}.{name}" for side in ("source", "target") for name in CHAIN_ARRAYS),
    *(f"problem.{side}_later.{name}" for side in ("source", "target") for name in LATER_ARRAYS),
    "problem.costs", "problem.cost_steps", "problem.terminal", *RECORD_ARRAYS,
)  # fmt: skip


def horizon_document(solution: HorizonSolution) -> Document:
    """The solution's fields: the question, and the record of the solve."""
    problem = solution.problem
    costs, steps = problem.costs.different, problem.costs.places
    question: Document = {
        "source": chain_document(problem.source),
        "target": chain_document(problem.target),
        **_later_document("source_later", problem.sources),
        **_later_document("target_later", problem.targets),
        "horizon": problem.horizon,
        "discount": problem.discount,
        "costs": stream(np.concatenate(costs), "<f8"),
        **({} if len(costs) == 1 else {"cost_steps": stream(steps, "<i8")}),
        "terminal": stream(problem.terminal, "<f8"),
        "cost_error": problem.cost_error,
        "cost_name": problem.cost_name,
        "cost_unit": problem.cost_unit,
        **({} if problem.reward_weight is None else {"reward_weight": problem.reward_weight}),
    }
    kept = problem.horizon < 2 or problem.horizon in solution._steps
    return {"problem": question, "keep_steps": kept, **record_document(solution, solution.solver, None)}


def horizon_from(fields: Fields) -> HorizonSolution:
    """The solution that the fields describe, with its values computed again."""
    problem = _problem(fields.inside("problem", QUESTION_KEYS))
    record = record_from(fields, problem.shape)
    keep = fields.of_kind("keep_steps", bool)
    again = solve(problem, BackwardInduction(keep_steps=keep), throw=False)
    certificate = wider_bounds(record.claimed, again.certificate, RECHECK_SLACK, problem.horizon)
    return replace(
        again,
        certificate=certificate,
        solver=record.solver,
        status=record.status,
        history=record.history,
        tol=record.tol,
    )


def _later_document(key: str, chains: Steps[MarkovChain]) -> Document:
    """The chains after the first, stacked, and which chain every step takes; nothing if all steps take the first."""
    later = chains.different[1:]
    if not later:
        return {}
    n = later[0].n_states
    stacked = sparse.vstack([chain.transitions for chain in later], format="csr")
    document: Document = {
        "transitions": matrix_document(stacked, [len(later), n, n]),
        "row_error": stream(np.stack([chain.row_error for chain in later]), "<f8"),
        "merged": stream(np.stack([chain.merged for chain in later]), "|b1"),
        "steps": stream(chains.places, "<i8"),
    }
    rewards = [chain.reward for chain in later if chain.reward is not None]
    if len(rewards) == len(later):
        document["reward"] = stream(np.stack(rewards), "<f8")
    if all(chain.labels is not None for chain in later):
        document["labels"] = [chain_document(chain)["labels"] for chain in later]
    return {key: document}


def _problem(fields: Fields) -> HorizonProblem:
    horizon = fields.of_kind("horizon", int)
    if horizon < 1:
        raise FileFormatError(f"{fields.name('horizon')} is {horizon}, expected a whole number of steps ≥ 1")
    source, target = (_chains(fields, side, horizon) for side in ("source", "target"))
    shape = _first(source).n_states, _first(target).n_states
    stacked = fields.floats("costs", None, shape[1])
    if not len(stacked) or len(stacked) % shape[0]:
        raise FileFormatError(f"{fields.name('costs')} has {len(stacked)} rows, expected {shape[0]} for every cost")
    costs = np.split(stacked, len(stacked) // shape[0])
    cost: Any = costs[0]
    if len(costs) > 1:
        cost = [costs[k] for k in _steps(fields, "cost_steps", horizon, len(costs))]
    try:
        problem = HorizonProblem(
            source,
            target,
            horizon=horizon,
            discount=fields.number("discount"),
            cost=cost,
            terminal=fields.floats("terminal", *shape),
        )
    except InvalidProblem as error:
        raise FileFormatError(f"problem: {error}") from None
    return changed(problem, **cost_words(fields, problem.source, problem.target))


def _first(chains: MarkovChain | list[MarkovChain]) -> MarkovChain:
    return chains if isinstance(chains, MarkovChain) else chains[0]


def _chains(fields: Fields, side: str, horizon: int) -> MarkovChain | list[MarkovChain]:
    """The chain of a side, or one for each step."""
    first = chain_from(fields.inside(side, CHAIN_KEYS))
    if not fields.has(f"{side}_later"):
        return first
    later = fields.inside(f"{side}_later", LATER_KEYS)
    n = first.n_states
    matrix = later.inside("transitions", MATRIX_KEYS)
    shape = matrix.of_kind("shape", list)
    count = shape[0] if len(shape) == 3 and type(shape[0]) is int and shape[1:] == [n, n] and shape[0] > 0 else 0
    if not count:
        raise FileFormatError(f"{matrix.name('shape')} is {shape!r}, expected [number of chains, {n}, {n}]")
    data = matrix.floats("data", None)
    indices, indptr = matrix.whole("indices", len(data)), matrix.offsets("indptr", count * n, len(data))
    parts: list[Document] = []
    for k in range(count):
        rows = indptr[k * n : (k + 1) * n + 1]
        entries = slice(int(rows[0]), int(rows[-1]))
        part = {"shape": [n, n], "indptr": rows - rows[0], "indices": indices[entries], "data": data[entries]}
        parts.append({"transitions": part})
    for key, stacked in (
        ("row_error", later.floats("row_error", count, n)),
        ("merged", later.mask("merged", count, n)),
    ):
        for part, row in zip(parts, stacked, strict=True):
            part[key] = row
    if later.has("reward"):
        for part, row in zip(parts, later.floats("reward", count, n), strict=True):
            part["reward"] = row
    if later.has("labels"):
        for part, labels in zip(parts, _listed(later, "labels", count), strict=True):
            part["labels"] = labels
    chains = [first, *(chain_from(Fields(part, f"{later.place}[{k}]", CHAIN_KEYS)) for k, part in enumerate(parts))]
    chains[1:] = [changed(chain, names=first.names) for chain in chains[1:]]
    return [chains[k] for k in _steps(later, "steps", horizon, len(chains))]


def _listed(fields: Fields, key: str, length: int) -> list[Any]:
    found: list[Any] = fields.of_kind(key, list)
    if len(found) != length:
        raise FileFormatError(f"{fields.name(key)} has {len(found)} entries, expected {length}")
    return found


def _steps(fields: Fields, key: str, horizon: int, count: int) -> list[int]:
    """Which of `count` things every step takes; the first one takes the first."""
    steps = fields.whole(key, None)
    if len(steps) != horizon:
        raise FileFormatError(f"{fields.name(key)} has {len(steps)} entries, expected one for each of {horizon} steps")
    if steps[0] != 0 or steps.min() < 0 or steps.max() >= count:
        raise FileFormatError(f"{fields.name(key)} is {kind_of(steps)} that names something else than 0 to {count - 1}")
    return [int(step) for step in steps]
