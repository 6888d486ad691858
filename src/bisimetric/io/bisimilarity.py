"""The certificate of a bisimilarity distance in a file, proved again.

Classes of bisimilar states, and the distances that are known because of them, are found anew. Numbers of steps in a
file are a guess: one sweep finds potentials for them, and the checker says what they prove.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bisimetric.certificates.check import check_application
from bisimetric.certificates.interval import Certificate
from bisimetric.certificates.undiscounted import check_undiscounted, known_ends, prove_steps
from bisimetric.couplings.witness import Proof
from bisimetric.errors import FileFormatError, InvalidWitness
from bisimetric.io.records import RECHECK_SLACK, SLACK_PER_CELL, wider_bounds
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman, as_rows
from bisimetric.operators.undiscounted import Ends, UndiscountedBellman, find_ends, swept_times
from bisimetric.problems.bisimilarity import BisimilarityProblem


def prove_bisimilarity(problem: BisimilarityProblem, claimed: Certificate, proof: Proof) -> Certificate:
    """The wider of the claimed bounds and of those that the stored value, couplings and potentials prove."""
    if proof.scale != 1.0:
        raise FileFormatError(f"scale is {proof.scale!r}, expected 1.0 for this problem")
    quotient = problem.quotient
    small = find_ends(quotient)
    ends = Ends(quotient.lift(small.known), quotient.lift(small.value))
    if not np.array_equal(proof.value[ends.known], ends.value[ends.known]):
        raise FileFormatError("priced is not 1 where labels differ, or not 0 where states are bisimilar")
    rows = as_rows(problem.source.transitions), as_rows(problem.target.transitions)
    bellman = replace(Bellman.between(*rows, problem.cost, 1.0, 1.0), stop=ends.known & (problem.cost > 0.0))
    steps = _proved_steps(problem, small, proof)
    longest = 0.0 if steps is None else float(steps.max())
    slack = RECHECK_SLACK + SLACK_PER_CELL * proof.witness.cells_per_pair
    try:
        with np.errstate(all="ignore"):  # numbers in a file may overflow; they then prove nothing
            if steps is None:
                check_application(bellman, proof.value, proof.witness, 0.0)
                return wider_bounds(claimed, known_ends(ends), 0.0, 0.0)
            proved = check_undiscounted(
                bellman, proof.value, proof.witness, quotient.row_error, ends, quotient.lift(steps)
            )
    except InvalidWitness as error:
        raise FileFormatError(f"the stored couplings are not valid: {error}") from None
    return wider_bounds(claimed, proved, slack, longest)


def _proved_steps(problem: BisimilarityProblem, ends: Ends, proof: Proof) -> Floats | None:
    if proof.steps is None or ends.known.all():
        return None
    operator = UndiscountedBellman.between_ends(problem.quotient, ends)
    return prove_steps(swept_times(operator, proof.steps), problem.quotient.row_error)
