"""The paper's theorems and lemmas by name (Calo et al. 2024), on problems where they say something.

A bound that every coupling satisfies shows nothing. So each test also shows what fails the bound: the independent
coupling P⊗Q, another step size, projections on one side only, or a weaker reading of the statement. `docs/theory.md`
explains the statements. Proposition 1 and `lemma:contraction` are tested on the kernels, in tests/solvers/sinkhorn.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import bisimetric as bm
from tests import reference

UNEQUAL = [[0.0, 1.0], [1.0, 0.0]]
CONVERGED = 70  # applications of an operator that contracts by 1/2 or less, to the limit of rounding


def coins(discount, bias=0.5):
    """A fair coin against one of this bias; the cost is 1 where they differ. For a fair one V*(0, 0) = 0."""
    chains = [bm.MarkovChain([[p, 1 - p]] * 2, start=0) for p in (0.5, bias)]
    return bm.Problem(*chains, discount=discount, cost=UNEQUAL)


def random_problem(n=3, m=2, *, seed=0, discount=0.5):
    """Two random chains of a few states."""
    random = np.random.default_rng(seed)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(k), k), start=0) for k in (n, m)]
    return bm.Problem(*chains, discount=discount, cost=random.random((n, m)))


def independent(problem):
    """P⊗Q, [n, m, n, m]."""
    rows = (problem.source.transitions.toarray(), problem.target.transitions.toarray())
    return np.einsum("xi,yj->xyij", *rows)


def occupancies(problem, eta, rounds, *, first=None):
    """μ_1, …, μ_{rounds+1} of SVI with exact projections (m = ∞)."""
    plans = [independent(problem) if first is None else first]
    steps = reference.sinkhorn_rounds(problem, [eta] * rounds, inner_steps=CONVERGED, first=first)
    plans += [np.exp(log.astype(float)) for log, _, _ in steps]
    return [reference.occupancy_of(problem, plan) for plan in plans]


def uniform(problem):
    """π_1 of the theorems: 1/(nm) everywhere."""
    return np.full((*problem.shape, *problem.shape), 1.0 / problem.cost.size)


# ------------------------------------------------------------------ Theorem 1


@pytest.mark.parametrize("seed", range(6))
def test_theorem_1(seed):
    """The program with a constraint for every (x, y, x') and (x, y, y') gives the distance at every pair."""
    problem = random_problem(2 + seed % 2, 2, seed=seed, discount=0.8)
    exact = bm.solve(problem, tol=1e-12)
    for pair in np.ndindex(*problem.shape):
        value, mu = reference.theorem_1(problem, pair)
        assert value == pytest.approx(exact.value[pair], rel=1e-9)
        law = reference.occupancy_of(problem, reference.coupling_of(problem, mu), pair)
        np.testing.assert_allclose(law, mu, atol=1e-9)


def test_theorem_1_read_literally_is_too_low():
    """With "for all x, x'" as sums over y: 1.71 instead of 65/11 at a pair where only one coupling exists."""
    chains = [bm.MarkovChain(rows, start=0) for rows in ([[0.0, 1.0], [1.0, 0.0]], [[0.25, 0.75], [0.75, 0.25]])]
    problem = bm.Problem(*chains, discount=0.9, cost=[[1.0, 0.0], [0.0, 1.0]])
    assert bm.solve(problem).distance == pytest.approx(float(Fraction(65, 11)), rel=1e-9)
    assert reference.theorem_1(problem)[0] == pytest.approx(65 / 11, rel=1e-9)
    value, mu = reference.theorem_1(problem, literal=True)
    assert value == pytest.approx(65 / 38, rel=1e-9)  # 71 % too low
    assert max(reference.violations(problem, mu)) > 0.1


def test_the_literal_program_is_never_too_high():
    """It drops constraints, so its value is a lower bound, often a poor one."""
    ratios = []
    for seed in range(20):
        problem = random_problem(2, 3, seed=seed, discount=0.9)
        ratios.append(reference.theorem_1(problem, literal=True)[0] / bm.solve(problem).value[0, 0])
    assert max(ratios) <= 1 + 1e-9
    assert min(ratios) < 0.95


def test_occupancy_validity():
    """lem:occupancy_validity: flow and coherence hold for μ^π if π is valid, and only then."""
    problem = random_problem(3, 2, seed=3)
    valid = reference.occupancy_of(problem, independent(problem))
    assert sum(reference.violations(problem, valid)) < 1e-14
    np.testing.assert_allclose(reference.coupling_of(problem, valid), independent(problem), atol=1e-14)
    invalid = reference.occupancy_of(problem, uniform(problem))
    assert min(reference.violations(problem, invalid)) > 0.05


# ------------------------------------------------------------------ Theorem 2 and the theorem of SPI

TRIVIAL = [(0.5, 0.25), (0.4, 0.3)]  # discount, ε: P⊗Q errs by γ/(2(1-γ)), which is more than ε


@pytest.mark.parametrize(
    ("method", "discount", "epsilon"),
    [
        pytest.param(bm.SinkhornPolicyIteration, *TRIVIAL[0], id="thm:main2"),
        pytest.param(bm.SinkhornValueIteration, *TRIVIAL[1], id="thm:main", marks=pytest.mark.slow),
    ],
)
def test_errors_that_the_theorems_promise(method, discount, epsilon):
    """With the η and K of thm:main (Theorem 2) and thm:main2 fair coins are within ε of 0; P⊗Q is not.

    V*(0, 0) = 0 exactly.
    """
    problem = coins(discount)
    trivial = reference.evaluate(problem, independent(problem))[0, 0]
    assert trivial == pytest.approx(discount / (2 * (1 - discount)))
    assert trivial > epsilon
    theorem = {"initial": "uniform", "inner_steps": 1e-9, "output": "average"}
    solution = bm.solve(problem, method(step_size=bm.FromTheorem(epsilon), **theorem))
    assert 0.0 <= solution.distance <= epsilon
    assert solution.distance < 0.3 * epsilon  # the constants are generous


def test_the_step_of_the_theorem_matters():
    """The same K with a hundredth of the step of thm:main2 misses ε."""
    discount, epsilon = TRIVIAL[0]
    problem = coins(discount)
    rounds = int(np.ceil(5 * np.log(4) / ((1 - discount) ** 4 * epsilon**2)))
    step = (1 - discount) / 3 * np.sqrt(8 * np.log(4) / rounds)
    theorem = {"initial": "uniform", "inner_steps": 1e-9, "output": "average", "rounds": rounds}
    assert bm.solve(problem, bm.SinkhornPolicyIteration(step_size=step / 100, **theorem)).distance > epsilon


def test_the_promise_is_about_one_start():
    """V^π(x_0 y_0) for the x_0 y_0 of the average: at pairs that the average hardly visits nothing is promised."""
    chains = [bm.MarkovChain([[1.0, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]], start=start) for start in (0, 0)]
    problem = bm.Problem(*chains, discount=0.5, cost=1.0 - np.eye(3))
    average = {"step_size": 1.0, "inner_steps": 1e-9, "output": "average", "rounds": 256}
    solution = bm.solve(problem, bm.SinkhornPolicyIteration(**average))
    exact = bm.solve(problem).value
    assert solution.value[0, 0] - exact[0, 0] <= 1e-9  # both stay in state 0
    assert solution.value[1, 1] - exact[1, 1] > 0.4  # never visited, so its coupling is P⊗Q: 1/2


# ------------------------------------------------------------------ what the proof of Theorem 2 adds up


@pytest.mark.parametrize("eta", [0.3, 1.0, 3.0])
def test_regret(eta):
    """thm:regret: Σ <μ_k - μ*, c> ≤ H(μ*|μ_1)/η + 2|c|; K rounds of P⊗Q would exceed it."""
    problem, rounds = coins(0.5), 64
    found = occupancies(problem, eta, rounds - 1)
    best = reference.theorem_1(problem)[1]
    regret = sum(reference.paid(problem, mu) for mu in found) - rounds * reference.paid(problem, best)
    bound = reference.conditional_entropy(best, found[0]) / eta + 2.0
    assert 0.0 < regret <= bound
    trivial = rounds * (reference.paid(problem, found[0]) - reference.paid(problem, best))
    assert trivial > bound


def test_cumulative_violations():
    """thm:cumulative_delta: Σ δ(μ_k) ≤ (1-γ)H/(2η|c|) + 16η|c|K/(1-γ)²; one-sided projections exceed it."""
    problem, rounds, discount = coins(0.5, bias=0.9), 512, 0.5
    best = reference.theorem_1(problem)[1]
    entropy = reference.conditional_entropy(best, reference.occupancy_of(problem, independent(problem)))
    eta = np.sqrt((1 - discount) ** 3 * entropy / (32 * rounds))  # makes the bound as small as possible
    bound = (1 - discount) * entropy / (2 * eta) + 16 * eta * rounds / (1 - discount) ** 2
    found = occupancies(problem, eta, rounds - 1)
    total = sum(sum(reference.violations(problem, mu)) for mu in found)
    assert 0.0 < total <= bound
    one_sided = np.zeros((2, 2, 2, 2))
    one_sided[:, :, [0, 1], [0, 1]] = 0.5  # where projections on the source alone lead: y' = x'
    assert rounds * sum(reference.violations(problem, reference.occupancy_of(problem, one_sided))) > bound


# ------------------------------------------------------------------ the lemmas


@pytest.mark.parametrize("seed", range(3))
def test_mirror_descent_regret(seed):
    """lem:MDregret; the sets are affine and the iterates positive, so it holds with equality, and only for m = ∞."""
    problem, eta = random_problem(seed=seed), 2.0
    best = reference.theorem_1(problem)[1]
    for before, after in pairwise(occupancies(problem, eta, 4)):
        assert _three_points(problem, best, before, after, eta) == pytest.approx(0.0, abs=1e-9)
    once = [np.exp(log.astype(float)) for log, _, _ in reference.sinkhorn_rounds(problem, [eta] * 3, inner_steps=1)]
    rough = [reference.occupancy_of(problem, plan) for plan in once]
    assert max(abs(_three_points(problem, best, *pair, eta)) for pair in pairwise(rough)) > 1e-4


def _three_points(problem, best, before, after, eta):
    """The left side of lem:MDregret minus its right side."""
    entropy = reference.conditional_entropy
    right = entropy(best, before) - entropy(best, after) - entropy(after, before)
    return reference.paid(problem, after) - reference.paid(problem, best) - right / eta


@pytest.mark.parametrize("seed", range(3))
def test_entropies(seed):
    """lem:H_vs_D: |μ - μ'|²/2 ≤ D ≤ H/(1-γ); D ≤ H alone is false."""
    problem = random_problem(seed=seed, discount=0.9)
    found = [reference.occupancy_of(problem, plans) for plans in (independent(problem), uniform(problem))]
    found.append(reference.theorem_1(problem)[1])
    for mu in found[1:]:
        distance = np.abs(mu - found[0]).sum()
        relative, conditional = (
            entropy(mu, found[0]) for entropy in (reference.relative_entropy, reference.conditional_entropy)
        )
        assert distance**2 / 2 <= relative + 1e-12
        assert conditional < relative <= conditional / (1 - 0.9)


@pytest.mark.parametrize("seed", range(3))
def test_rounding(seed):
    """lemma:Delta_to_delta: Δ ≤ 2δ; lemma:rounding: <ρ(μ) - μ, c> ≤ |c|Δ/(1-γ). Both with what they bound in sight."""
    problem = random_problem(seed=seed, discount=0.9)
    for mu in occupancies(problem, 1.0, 3, first=uniform(problem))[:3]:
        plans = reference.coupling_of(problem, mu)
        valid = reference.rounded_plans(problem, plans)
        law = mu.sum(axis=1).reshape(problem.shape)
        moved = float((law * np.abs(valid - plans).sum(axis=(2, 3))).sum())
        delta = sum(reference.violations(problem, mu))
        assert 0.25 * delta < moved <= 2 * delta
        rounded = reference.occupancy_of(problem, valid)
        largest = float(problem.cost.max())
        assert reference.paid(problem, rounded) - reference.paid(problem, mu) <= largest * moved / (1 - 0.9)
        assert 0.1 * moved < np.abs(rounded - mu).sum() <= moved / (1 - 0.9)


@pytest.mark.parametrize("seed", range(3))
def test_violations_are_paid_by_movement(seed):
    """lem:delta_to_mu: δ(μ_k) ≤ 2 min(|μ_k - μ_{k+1}|, |μ_k - μ_{k-1}|), from a start with valid marginals."""
    problem = random_problem(seed=seed)
    found = occupancies(problem, 2.0, 6)
    for before, mu, after in zip(found, found[1:], found[2:], strict=False):
        delta = sum(reference.violations(problem, mu))
        moves = [np.abs(mu - other).sum() for other in (before, after)]
        assert 0.02 * min(moves) < delta <= 2 * min(moves)


def test_the_uniform_start_is_an_exception():
    """lem:delta_to_mu fails at k = 1 for the uniform π_1 of Theorem 2, whose marginals are wrong on both sides."""
    problem, eta = coins(0.5, bias=0.99), 1e-3
    first, second = occupancies(problem, eta, 1, first=uniform(problem))
    delta = sum(reference.violations(problem, first))
    assert delta > 0.9
    assert 2 * np.abs(first - second).sum() < 0.01 * delta


@pytest.mark.parametrize("seed", range(3))
def test_performance_difference(seed):
    """<μ~ - μ*, c> = <μ*, E_- V - Q> for any valid coupling, Q = c + γ E_+ V (Appendix D); an equality."""
    problem = random_problem(seed=seed, discount=0.9)
    best = reference.theorem_1(problem)[1]
    plans = independent(problem)
    value = reference.evaluate(problem, plans).ravel()
    ahead = problem.cost.ravel()[:, None] + 0.9 * value[None, :]  # Q [xy, x'y']
    left = reference.paid(problem, reference.occupancy_of(problem, plans)) - reference.paid(problem, best)
    assert left > 1e-3
    assert left == pytest.approx(float((best * (value[:, None] - ahead)).sum()), rel=1e-9)
