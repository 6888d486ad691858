"""Look for an interval that misses the truth: `python -m tests.campaign 100000 [--seed 0]`.

Random problems with at most three states a side, of the kinds that break such programs (ties, duplicates,
absorbing and periodic chains, tiny probabilities, discounts up to 0.9999, costs from 1e-300 to 1e300, stops, one chain
against itself), each solved by a solver chosen at random, sometimes to a loose tolerance or from a wild guess, and
compared with the rational oracle. Classes of bisimilar states are looked for in every problem, however small. Prints
what it did; exits with 1 at a violation.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from fractions import Fraction
from unittest.mock import patch

import numpy as np

import bisimetric as bm
from bisimetric import _lumping
from tests.reference import exact_distances

DISCOUNTS = (0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)
APPROXIMATE = (
    bm.SinkhornValueIteration(rounds=4),
    bm.SinkhornPolicyIteration(rounds=4, initial="uniform"),
    bm.EntropicPolicyIteration(rounds=2, projections=4),
    bm.SinkhornBellman(rounds=3, projections=4),
)
LP_SHARE = 0.02  # of problems go to HiGHS, which takes a hundred times as long


def random_rows(random: np.random.Generator, n: int) -> np.ndarray:
    """A stochastic matrix of one of the awkward kinds."""
    kind = random.integers(6)
    if kind == 0:  # deterministic: absorbing, periodic
        return np.eye(n)[random.integers(n, size=n)]
    if kind == 1:  # ties
        rows = random.integers(0, 2, (n, n)) + np.eye(n)[random.integers(n, size=n)]
    elif kind == 2:  # tiny probabilities
        rows = 10.0 ** random.uniform(-20, 0, (n, n))
    elif kind == 3:  # small fractions
        rows = random.integers(0, 4, (n, n)) + np.eye(n)[random.integers(n, size=n)]
    else:  # floats, with and without zeros
        rows = random.random((n, n)) * (random.random((n, n)) < (0.6 if kind == 4 else 1)) + 1e-3 * np.eye(n)
    if random.random() < 0.3:  # duplicate rows
        rows[:] = rows[random.integers(n, size=n)]
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def random_problem(random: np.random.Generator) -> bm.Problem:
    """A problem of at most three states a side."""
    n, m = (int(k) for k in random.integers(1, 4, 2))
    source, target = (bm.MarkovChain.normalised(random_rows(random, k)) for k in (n, m))
    cost = random.random((n, m)) if random.random() < 0.5 else random.integers(0, 3, (n, m)).astype(float)
    if random.random() < 0.3:
        cost *= 10.0 ** random.uniform(-20, 0, (n, m))
    cost *= 10.0 ** random.uniform(-299, 299)
    stop = random.random((n, m)) < 0.3 if random.random() < 0.2 else None
    if n == m and random.random() < 0.5:  # one chain against itself: half of the pairs are solved
        target = source
        cost = np.maximum(cost, cost.T) * (1.0 - np.eye(n))
        stop = None if stop is None else (stop | stop.T) & ~np.eye(n, dtype=np.bool_)
    return bm.Problem(source, target, discount=float(random.choice(DISCOUNTS)), cost=cost, stop=stop)


def random_answer(random: np.random.Generator, problem: bm.Problem) -> tuple[str, bm.Certificate]:
    """One of the ways to an interval."""
    way = random.random()
    if way < LP_SHARE:
        return "linear program", bm.solve(problem, bm.LinearProgram(), throw=False).certificate
    if way < 0.2 and problem.discount <= 0.95:
        return "value iteration", bm.solve(problem, bm.ValueIteration()).certificate
    if way < 0.25:
        solver = APPROXIMATE[random.integers(len(APPROXIMATE))]
        return "Sinkhorn", bm.solve(problem, solver).certificate
    if way < 0.35:
        guess = random.random(problem.shape) * 10.0 ** random.uniform(-3, 3) * problem.cost.max()
        return "certify a guess", bm.certify(problem, np.minimum(guess, 1e307))
    if way < 0.5:
        return "loose tolerance", bm.solve(problem, tol=10.0 ** random.uniform(-6, -1), throw=False).certificate
    return "policy iteration", bm.solve(problem).certificate


def violations(problem: bm.Problem, certificate: bm.Certificate) -> int:
    """Pairs whose interval misses the rational answer."""
    truth = exact_distances(problem)
    return sum(
        not Fraction(float(certificate.lower[p])) <= truth[p[0]][p[1]] <= Fraction(float(certificate.upper[p]))
        for p in np.ndindex(*problem.shape)
    )


def run(problems: int, seed: int) -> tuple[Counter[str], int, int]:
    """How often each way was taken, pairs checked, and violations."""
    random = np.random.default_rng(seed)
    ways: Counter[str] = Counter()
    pairs = missed = 0
    for k in range(problems):
        problem = random_problem(random)
        with patch.object(_lumping, "FEWEST_PAIRS", 1):
            way, certificate = random_answer(random, problem)
        ways[way] += 1
        pairs += problem.cost.size
        found = violations(problem, certificate)
        missed += found
        if found:
            print(f"violation: seed {seed}, problem {k}, {way}: {problem!r}", flush=True)
    return ways, pairs, missed


def main() -> int:
    """Run, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("problems", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.process_time()
    ways, pairs, missed = run(options.problems, options.seed)
    seconds = time.process_time() - began
    print(f"{options.problems} problems, {pairs} pairs, {missed} violations, {seconds:.0f} CPU seconds")
    print(", ".join(f"{way} {count}" for way, count in ways.most_common()))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
