"""Several small problems as one: their chains side by side, and only the pairs inside a problem are solved.

    source = P₁ ⊕ … ⊕ P_k,   target = Q₁ ⊕ … ⊕ Q_k,   V = 0 outside the blocks (x ∈ P_i, y ∈ Q_i)

A chain never leaves its block, so the value on block i is that of problem i, and couplings and potentials are those of
the block's trees. Costs are multiplied by a power of two for each problem, which is exact, so that one tolerance fits
all. The residuals of all problems bound each of them: the interval of a problem is as wide as that of the worst one,
and a problem whose own relative gap is then too large has to be solved alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import changed
from bisimetric.certificates.interval import SUBNORMAL_BELOW, Certificate
from bisimetric.couplings.witness import PartWitness, Proof
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats, Ints, offsets
from bisimetric.operators.bellman import is_immediate, power_of_two
from bisimetric.problems.discounted import Problem
from bisimetric.solving.history import Status, Step
from bisimetric.solving.solution import Solution

MOST_BATCHED_STATES = 160  # of a batch, on each side: zeros outside the blocks take time too
MOST_BATCHED_PAIRS = 64  # of a problem that belongs into a batch; larger ones have little to gain
BATCH_TOL = 0.25  # tolerance of a batch, relative to that of its problems, whose largest distances differ


def fits(problem: object) -> bool:
    """Whether a problem is small and plain enough for a batch, and its costs lose nothing when they are scaled."""
    if type(problem) is not Problem or problem.cost.size > MOST_BATCHED_PAIRS or is_immediate(problem):
        return False
    if problem.uncertain:
        return False
    largest = float(problem.cost.max())
    scale = power_of_two(largest)
    return largest >= SUBNORMAL_BELOW and bool((problem.cost * scale / scale == problem.cost).all())


def batches(problems: Sequence[Problem]) -> Iterator[list[int]]:
    """Places of problems that can be solved together: equal discounts, few states in all.

    Problems with exact costs, and one chain against itself, have batches of their own.
    """
    open_batches: dict[tuple[float, bool, bool], list[int]] = {}
    states: dict[tuple[float, bool, bool], Ints] = {}
    for place, problem in enumerate(problems):
        key = problem.discount, problem.cost_error > 0.0, problem.source is problem.target
        after = states.get(key, np.zeros(2, np.int64)) + problem.shape
        if after.max() > MOST_BATCHED_STATES:
            yield open_batches.pop(key)
            after = np.array(problem.shape)
        open_batches.setdefault(key, []).append(place)
        states[key] = after
    yield from open_batches.values()


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Problems and the one that stands for all of them."""

    parts: Sequence[Problem]
    whole: Problem
    scales: list[float]  # by which each cost was multiplied
    at_x: list[int]  # where the source states of each problem begin
    at_y: list[int]

    @classmethod
    def of(cls, parts: Sequence[Problem]) -> Batch:
        """The problems side by side."""
        source, target = _side_by_side([p.source for p in parts]), _side_by_side([p.target for p in parts])
        at_x, at_y = (offsets(np.array(sizes)).tolist() for sizes in zip(*(p.shape for p in parts), strict=True))
        cost = np.zeros((at_x[-1], at_y[-1]))
        stop = np.ones(cost.shape, np.bool_)
        scales = [power_of_two(float(p.cost.max())) for p in parts]
        for part, scale, x, y in zip(parts, scales, at_x, at_y, strict=False):
            block = slice(x, x + part.shape[0]), slice(y, y + part.shape[1])
            np.multiply(part.cost, scale, out=cost[block])
            stop[block] = False if part.stop is None else part.stop
        same = all(p.source is p.target for p in parts)
        whole = parts[0].part(source, source if same else target, cost, stop)
        return cls(parts, changed(whole, cost_error=max(p.cost_error for p in parts)), scales, at_x, at_y)

    def split(self, solution: Solution, tol: float) -> Iterator[Solution]:
        """The solution of every problem, from that of the whole."""
        proof, whole = solution._proof, solution.certificate
        columns = self.whole.shape[1]
        for part, scale, x, y in zip(self.parts, self.scales, self.at_x, self.at_y, strict=False):
            block = slice(x, x + part.shape[0]), slice(y, y + part.shape[1])
            value, lower, upper = (bound[block] / scale for bound in (whole.value, whole.lower, whole.upper))
            certificate = Certificate(value, lower, upper, whole.shortfall).without(part.unsolved)
            witness = PartWitness(proof.witness, x * columns + y, columns, part.shape[1])
            own = Proof(witness, proof.value[block], proof.scale * scale)
            status = solution.status
            if status is Status.STALLED and certificate.relative_gap <= tol:
                status = Status.SOLVED
            steps = tuple(Step(step.step, step.gap / scale, step.seconds) for step in solution.history)
            yield Solution(part, solution.solver, status, steps, certificate, own, tol)


def _side_by_side(chains: Sequence[MarkovChain]) -> MarkovChain:
    """One chain that has all of them as parts, without what couplings do not depend on."""
    rows = [chain.transitions for chain in chains]
    states, entries = offsets(np.array([r.shape[0] for r in rows])), offsets(np.array([r.nnz for r in rows]))
    data: Floats = np.concatenate([r.data for r in rows])
    indices = np.concatenate([r.indices for r in rows]) + np.repeat(states[:-1], np.diff(entries))
    indptr = np.concatenate([r.indptr[:-1] for r in rows]) + np.repeat(entries[:-1], np.diff(states))
    n = int(states[-1])
    matrix = sparse.csr_array((data, indices, np.append(indptr, len(data))), shape=(n, n))
    return changed(
        chains[0],
        transitions=matrix,
        row_error=np.concatenate([chain.row_error for chain in chains]),
        merged=np.concatenate([chain.merged for chain in chains]),
        reward=None, start=None, names=None, labels=None,
    )  # fmt: skip
