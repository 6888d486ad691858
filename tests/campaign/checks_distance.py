"""Checks of distances between chains: every solver, certificates, starts, occupancies and explanations."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import bisimetric as bm
from bisimetric.solvers import Solver
from tests.campaign import oracles
from tests.campaign.cases import MOST_PAIRS, UNIT, Case, solvable
from tests.campaign.findings import Finding, intervals
from tests.campaign.oracles import GRAINS, Ratio

SINKHORN: tuple[Solver, ...] = (
    bm.SinkhornValueIteration(rounds=4),
    bm.SinkhornValueIteration(rounds=3, output="average"),
    bm.SinkhornPolicyIteration(rounds=4, initial="uniform"),
    bm.SinkhornBellman(rounds=3, projections=4),
)
ENTROPIC = bm.EntropicPolicyIteration(rounds=2, projections=4)
OCCUPANCY_TOL = 1e-9  # 1-norm
OCCUPANCY_ROUNDINGS = 64  # units that a linear system may lose, times 1/(1-γ)
SLACK = 1e-9  # relative, for sums of floats that are compared with floats


def _judge(what: str, case: Case, solution: bm.Solution, tol: float | None) -> Iterator[Finding]:
    yield from intervals(what, case.truth, solution.lower, solution.upper, solution.value)
    missed = solution.status is not bm.Status.SOLVED
    promised = float(case.problem.cost.max()) >= 1e-300  # below, bounds are as wide as a few denormal numbers
    too_many_steps = solution.status is bm.Status.STEP_LIMIT  # where rounding is the limit, that is STALLED
    if promised and tol is not None and missed and (too_many_steps or solvable(case, tol)):
        gap = f"relative gap {solution.relative_gap:.2g} after {len(solution.history)} steps"
        yield Finding(f"{what}: {solution.status.name}, {gap}", gave_up=True)
    if tol is not None and solution.status is bm.Status.SOLVED and not solution.relative_gap <= tol:
        yield Finding(f"{what}: SOLVED, but the relative gap is {solution.relative_gap!r}")


def policy_iteration(case: Case) -> Iterator[Finding]:
    """The default solver is SOLVED at its default tolerance unless rounding forbids, and right."""
    yield from _judge("policy iteration", case, case.solution, bm.PolicyIteration.default_tol)


def value_iteration(case: Case) -> Iterator[Finding]:
    """The same for value iteration, except at discounts where it takes too long."""
    if case.discount <= 0.995:
        found = bm.solve(case.problem, bm.ValueIteration(), throw=False)
        yield from _judge("value iteration", case, found, bm.ValueIteration.default_tol)


def linear_program(case: Case) -> Iterator[Finding]:
    """The same for the linear program, which may refuse a discount close to 1."""
    try:
        found = bm.solve(case.problem, bm.LinearProgram(), throw=False)
    except (bm.errors.InvalidProblem, bm.errors.InvalidOption):
        return
    yield from _judge("linear program", case, found, bm.LinearProgram.default_tol)


def sinkhorn(case: Case) -> Iterator[Finding]:
    """Approximate solvers state bounds that hold."""
    solver = ENTROPIC if case.random.random() < 0.03 else SINKHORN[case.random.integers(len(SINKHORN))]
    yield from _judge(solver.name, case, bm.solve(case.problem, solver, throw=False), None)


def certify(case: Case) -> Iterator[Finding]:
    """Certificates of wild guesses, and of values that are nearly right."""
    random = case.random
    if random.random() < 0.5:
        guess = case.solution.value * (1 + 10.0 ** random.uniform(-16, -3) * random.standard_normal(case.shape))
    else:
        guess = random.random(case.shape) * 10.0 ** random.uniform(-3, 3) * case.problem.cost.max()
    found = bm.certify(case.problem, np.minimum(guess, 1e307))
    yield from intervals("certify", case.truth, found.lower, found.upper, found.value)


def loose(case: Case) -> Iterator[Finding]:
    """Any tolerance, started from anywhere."""
    tol = 10.0 ** case.random.uniform(-8, -1)
    initial = np.minimum(case.random.random(case.shape) * case.problem.cost.max() * 10.0, 1e307)
    found = bm.solve(case.problem, tol=tol, throw=False, initial=initial if case.random.random() < 0.5 else None)
    yield from _judge(f"tol {tol:.2g}", case, found, tol)


def exact_certificate(case: Case) -> Iterator[Finding]:
    """`certify_exactly` is about the stored cost; where that is the one asked for, its interval holds strictly."""
    stored = [Fraction(float(c)) for c in case.problem.cost.ravel()]
    if not case.is_small or stored != [Fraction(above, case.costs.below) for above in case.costs.above]:
        return
    found = bm.certify_exactly(case.solution)
    for k, (low, high) in enumerate(zip(found.lower.ravel(), found.upper.ravel(), strict=True)):
        true = Fraction(*case.truth[k])
        if not low <= true <= high:
            yield Finding(f"exact certificate: pair {k}: [{float(low)!r}, {float(high)!r}] misses {float(true)!r}")
            return


def starts(case: Case) -> Iterator[Finding]:
    """The interval between the starts, from all pairs and from reachable ones only."""
    if 0.0 < case.discount < 1e-300 and not case.is_small:
        return  # the numbers of the oracle have thousands of digits
    true = _between_starts(case, case.truth)
    yield from intervals("starts", [true], *case.solution.interval, case.solution.distance)
    if case.stop is not None:
        return
    part = bm.distance(
        case.source,
        case.target,
        discount=case.discount,
        cost=case.cost,
        normalised=case.normalised,
        pairs="reachable",
    )
    yield from intervals("reachable starts", [true], *part.interval, part.distance)
    yield from intervals("reachable pairs", case.truth, part.lower, part.upper, part.value)


def _between_starts(case: Case, truth: list[Ratio]) -> Ratio:
    laws = [
        [(k, int(mass * GRAINS)) for k, mass in enumerate(chain.start.tolist()) if mass]
        for chain in (case.source, case.target)
    ]
    return oracles.transported(*laws, truth, case.shape[1])


def coupling(case: Case) -> Iterator[Finding]:
    """Joint laws have the rows as marginals, and cost at most the upper bound."""
    if not case.is_small:
        return
    n, m = case.shape
    matrix = case.solution.coupling.matrix()
    laws = matrix.toarray().reshape(n, m, n, m)
    going = np.ones((n, m), bool) if case.stop is None else ~case.stop
    P, Q = case.source.transitions.toarray(), case.target.transitions.toarray()
    for side, rows, sums in (("source", P[:, None], laws.sum(axis=3)), ("target", Q[None], laws.sum(axis=2))):
        off = float(np.abs(np.where(going[:, :, None], sums - rows, 0.0)).max())
        if off > 1e-12:
            yield Finding(f"coupling: the {side} marginals are off by {off:.2g}")
    moves = [[(to, int(mass * GRAINS)) for to, mass in enumerate(row) if mass] for row in matrix.toarray().tolist()]
    if all(sum(mass for _, mass in row) in (0, GRAINS) for row in moves):
        value = oracles.linear_values(moves, case.costs, case.discount)
        above = np.full(n * m, -np.inf)
        yield from intervals("value of the coupling", value, above, case.solution.upper)


def occupancy(case: Case) -> Iterator[Finding]:
    """Occupancies solve ν = (1-γ)ν₀ + γΠᵀν for the coupling found."""
    n, m = case.shape
    if n * m > MOST_PAIRS:
        return
    pair = int(case.random.integers(n)), int(case.random.integers(m))
    try:
        found = case.solution.coupling.occupancy(pair)
    except bm.errors.SolverFailed:
        if _may_fail(case):
            return
        raise
    if _rounding(case) > 1e-3:
        return
    rows = case.solution.coupling.matrix().toarray()
    start = np.zeros(n * m)
    start[pair[0] * m + pair[1]] = 1.0 - case.discount
    true = np.linalg.solve(np.eye(n * m) - case.discount * rows.T, start)
    off = float(np.abs(found.ravel() - true).sum())
    if not off <= OCCUPANCY_TOL + _rounding(case):
        yield Finding(f"occupancy from {pair}: off by {off:.2g} in 1-norm, sums to {float(found.sum())!r}")
    if not found.min() >= 0:
        yield Finding(f"occupancy from {pair}: negative, {found.min():.2g}")


def _rounding(case: Case) -> float:
    return OCCUPANCY_ROUNDINGS * UNIT / (1.0 - case.discount)


def _may_fail(case: Case) -> bool:
    """Whether rounding may prevent an occupancy within the tolerance."""
    return _rounding(case) > OCCUPANCY_TOL


def explain(case: Case) -> Iterator[Finding]:
    """Parts add up to a number inside the interval, and each is its occupancy times its cost."""
    try:
        found = case.solution.explain(int(case.random.integers(1, 5)))
    except bm.errors.SolverFailed:
        if _may_fail(case):
            return
        raise
    low, high = case.solution.interval
    if not low <= found.distance <= high:
        yield Finding(f"explain: {found.distance!r} is not in [{low!r}, {high!r}]")
    total = sum(part.amount for part in found.parts) + found.rest
    tiny = 8 * 5e-324 / (1.0 - case.discount)  # rounding of numbers that are not normal
    roundings = OCCUPANCY_ROUNDINGS * UNIT / (1.0 - case.discount)
    rounding = roundings * float(case.problem.cost.max()) / (1.0 - case.discount) + tiny * case.problem.cost.size
    if not abs(total - found.distance) <= SLACK * abs(found.distance) + rounding:
        yield Finding(f"explain: parts add up to {total!r}, not {found.distance!r}")
    given = case.problem.cost / (1.0 - case.discount) if case.normalised else case.problem.cost
    for part in found.parts:
        cost = float(given[int(part.source), int(part.target)])
        amount = part.occupancy * cost if case.normalised else part.occupancy * cost / (1.0 - case.discount)
        if not abs(part.cost - cost) <= SLACK * cost + tiny:
            yield Finding(f"explain: pair {part.source}, {part.target} is shown at cost {part.cost!r}, not {cost!r}")
            return
        if not abs(part.amount - amount) <= SLACK * abs(amount) + tiny / (1.0 - case.discount):
            yield Finding(f"explain: pair {part.source}, {part.target} has part {part.amount!r}, not {amount!r}")
            return


def pairwise(case: Case) -> Iterator[Finding]:
    """A table of both chains, whose entries are distances between starts."""
    if case.stop is not None or case.cost is not None:
        return
    table = bm.pairwise([case.source, case.target], discount=case.discount, normalised=case.normalised)
    true = _between_starts(case, case.truth)
    for x, y in ((0, 1), (1, 0)):
        yield from intervals(f"pairwise {x, y}", [true], table.lower[x, y], table.upper[x, y], table.value[x, y])
    if table.upper[0, 0] != 0.0 or table.lower[0, 0] != 0.0:
        yield Finding(f"pairwise: a chain is {table.upper[0, 0]!r} from itself")
