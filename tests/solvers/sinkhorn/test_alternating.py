"""The paper's theorems and lemmas, options of its two methods. Their intervals are in tests/laws."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import optimize

import bisimetric as bm
from bisimetric import kernels
from bisimetric.couplings.factored import Factored
from bisimetric.couplings.rounded import back_up
from bisimetric.couplings.witness import pair_cells
from bisimetric.errors import InvalidOption
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.sinkhorn.alternating import DEFAULT_ROUNDS

METHODS = (bm.SinkhornValueIteration, bm.SinkhornPolicyIteration)


def tiny(n=2, m=3, *, seed=0, discount=0.5, start=True):
    """Two random chains of a few states with Dirac starts."""
    random = np.random.default_rng(seed)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(k), k), start=0 if start else None) for k in (n, m)]
    return bm.Problem(*chains, discount=discount, cost=random.random((n, m)))


def plans_of(state, *, rounded):
    """[n, m, n, m], the couplings of a factored state, as they are or rounded."""
    bellman = state.bellman
    n, m = bellman.shape
    cells = pair_cells(bellman, 0, n * m)
    rows = (bellman.source, bellman.target)
    kernels.sinkhorn.rounding.rounded(0, n * m, *rows, state.scalings, state.whole, state.rest, rounded, cells)
    plans = np.zeros((n * m, n, m))
    for pair in range(n * m):
        x, y = divmod(pair, m)
        part = slice(cells.indptr[pair], cells.indptr[pair + 1])
        to_x = rows[0].indices[rows[0].indptr[x] + cells.left[part]]
        to_y = rows[1].indices[rows[1].indptr[y] + cells.right[part]]
        plans[pair, to_x, to_y] = cells.weight[part]
    return plans.reshape(n, m, n, m)


def occupancy(problem, plans):
    """ν = (1-γ) ν_0 + γ Πᵀ ν, from uniform starts."""
    size = problem.cost.size
    moves = plans.reshape(size, size)
    start = np.full(size, (1 - problem.discount) / size)
    return np.linalg.solve(np.eye(size) - problem.discount * moves.T, start)


# ------------------------------------------------------------------ the theorems


@pytest.mark.parametrize(
    ("method", "epsilon", "discount"),
    [(METHODS[1], 0.25, 0.5), pytest.param(METHODS[0], 0.6, 0.4, marks=pytest.mark.slow)],
)
def test_theorems(method, epsilon, discount):
    """With the η and K of thm:main and thm:main2 the averaged output errs by at most ε at the start.

    No coupling errs by more than γ/(1-γ)·|c|, which is more than ε here.
    """
    problem = tiny(2, 2, discount=discount)
    assert epsilon < discount / (1 - discount)
    solver = method(
        step_size=bm.FromTheorem(epsilon * problem.cost.max()), initial="uniform", inner_steps=1e-9, output="average"
    )
    solution = bm.solve(problem, solver)
    assert solution.status is bm.Status.COMPLETED
    exact = bm.solve(problem)
    assert solution.value[0, 0] - exact.value[0, 0] <= epsilon * problem.cost.max()
    assert solution.value[0, 0] >= exact.lower[0, 0]


@pytest.mark.parametrize("eta", [0.05, 0.5, 5.0])
def test_regret_and_violations(eta):
    """thm:regret and thm:cumulative_delta at any η and K, and the history holds what is needed to plot them."""
    problem = tiny(3, 2, seed=4)
    largest, gamma, rounds = problem.cost.max(), 0.5, 128
    solver = METHODS[0](step_size=eta, rounds=rounds, initial="uniform", inner_steps=1e-10, output="average")
    solution = bm.solve(problem, solver)
    exact = bm.solve(problem).value[0, 0]
    measured = [step for step in solution.history if step.mean_cost is not None]
    assert [step.step for step in measured] == [1, 2, 4, 8, 16, 32, 64, 128]
    for step in measured:
        assert step.mean_cost - exact <= step.regret_bound
        assert step.regret_bound == pytest.approx((np.log(6) / eta + 2 * largest) / (step.step * (1 - gamma)))
        own, other = (step.violation_x, step.violation_y)[:: 1 if step.step % 2 else -1]
        assert own <= 1e-12 < other
    assert solution.value[0, 0] - exact <= measured[-1].error_bound
    bellman = Bellman.of(problem)
    state, expected = Factored.start(bellman, "uniform"), [np.zeros(problem.shape)] * 2
    total = 0.0
    for k in range(rounds):  # δ(μ_1), …, δ(μ_K); the largest over the pairs bounds each
        plans = plans_of(state, rounded=False)
        start = np.zeros(problem.cost.size)
        start[0] = 1 - gamma
        moves = plans.reshape(start.size, start.size)
        nu = np.linalg.solve(np.eye(start.size) - gamma * moves.T, start).reshape(problem.shape)
        total += (nu * (sum(state.marginals()))).sum()
        for _ in range(60):
            expected[k % 2] = state.probe(k % 2 == 0, eta / bellman.scale, expected[k % 2])
        state.project(k % 2 == 0, eta / bellman.scale, expected[k % 2])
    bound = (1 - gamma) * np.log(6) / (2 * eta * largest) + 16 * eta * largest * rounds / (1 - gamma) ** 2
    assert 0 < total <= bound


def test_rounds_of_the_theorems():
    """K and η as they stand in the paper, for n = m = 2, γ = 0.5, |c| = 2."""
    problem = tiny(2, 2)
    problem = bm.Problem(problem.source, problem.target, discount=0.5, cost=[[2.0, 0.0], [1.0, 0.5]])
    log = np.log(4)
    svi = METHODS[0](step_size=bm.FromTheorem(200.0)).init(Bellman.of(problem), None)
    needed = 324 * 4 * log / (0.5**5 * 200.0**2)
    assert svi.schedule.rounds == np.ceil(needed)
    assert svi.schedule.step(1) == pytest.approx(np.sqrt(0.125 * log / svi.schedule.rounds) / 8)
    spi = METHODS[1](step_size=bm.FromTheorem(2.0)).init(Bellman.of(problem), None)
    assert spi.schedule.rounds == np.ceil(5 * 4 * log / (0.5**4 * 2.0**2))
    assert spi.schedule.step(7) == pytest.approx(0.5 / 6 * np.sqrt(8 * log / spi.schedule.rounds))


@pytest.mark.parametrize("method", METHODS)
def test_absurd_rounds_are_refused(method):
    """The error states K, before any work."""
    with pytest.raises(InvalidOption, match=r"asks for K = \d.*e\+\d+ rounds"):
        bm.solve(tiny(discount=0.999), method(step_size=bm.FromTheorem(1e-6)))


@pytest.mark.parametrize("seed", range(4))
def test_rounding_lemmas(seed):
    """lemma:Delta_to_delta: Δ/2 ≤ δ. lemma:rounding: <ρ(μ) - μ, c> ≤ |c| Δ/(1-γ)."""
    problem = tiny(3, 4, seed=seed, discount=0.9)
    bellman = Bellman.of(problem)
    state = Factored.start(bellman, "independent")
    random = np.random.default_rng(seed)
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    for k in range(4):
        state.project(k % 2 == 0, 3.0, random.random(problem.shape))
        plans, rounded = plans_of(state, rounded=False), plans_of(state, rounded=True)
        nu = occupancy(problem, plans).reshape(problem.shape)
        off_x = np.abs(plans.sum(axis=3) - P[:, None]).sum(axis=2)
        off_y = np.abs(plans.sum(axis=2) - Q[None]).sum(axis=2)
        np.testing.assert_allclose(state.marginals()[0], off_x, atol=1e-14)
        np.testing.assert_allclose(state.marginals()[1], off_y, atol=1e-14)
        delta = (nu * (off_x + off_y)).sum()
        assert delta > 1e-3
        moved = (nu * np.abs(rounded - plans).sum(axis=(2, 3))).sum()
        assert moved / 2 <= delta + 1e-14
        paid = [(occupancy(problem, some) * problem.cost.ravel()).sum() for some in (rounded, plans)]
        assert paid[0] - paid[1] <= problem.cost.max() * moved / (1 - problem.discount) + 1e-14


@pytest.mark.parametrize("by_source", [True, False])
def test_contraction(by_source):
    """Both operators are γ-contractions in the largest norm (lemma:contraction)."""
    problem = tiny(3, 4, discount=0.8)
    state = Factored.start(Bellman.of(problem), "independent")
    random = np.random.default_rng(1)
    for k in range(3):
        state.project(k % 2 == 0, 2.0, random.random(problem.shape))
    for _ in range(20):
        one, two = random.random((2, *problem.shape)) * 5
        apart = np.abs(one - two).max()
        assert np.abs(state.probe(by_source, 0.7, one) - state.probe(by_source, 0.7, two)).max() <= 0.8 * apart + 1e-12
        assert np.abs(back_up(state, one) - back_up(state, two)).max() <= 0.8 * apart + 1e-12


@pytest.mark.parametrize("by_source", [True, False])
def test_the_update_is_the_mirror_descent_step(by_source):
    """Proposition 1: μ_{k+1} = argmin <μ, c> + H(μ|μ_k)/η over B_X or B_Y, here found by a general convex solver."""
    problem = tiny(2, 2, discount=0.5)
    n, m = problem.shape
    size, gamma, eta = n * m, 0.5, 1.5
    bellman = Bellman.of(problem)
    state = Factored.start(bellman, "independent")
    state.project(not by_source, 1.0 / bellman.scale, problem.cost * bellman.scale)
    before = plans_of(state, rounded=False).reshape(size, size)
    expected = np.zeros((n, m))
    for _ in range(200):
        expected = state.probe(by_source, eta / bellman.scale, expected)
    state.project(by_source, eta / bellman.scale, expected)
    after = plans_of(state, rounded=False).reshape(size, size)

    start = np.full(size, (1 - gamma) / size)
    rows = (problem.source if by_source else problem.target).transitions.toarray()

    def constraint(flat):
        mu = flat.reshape(size, size)
        arrived = (gamma * mu.sum(axis=0) + start).reshape(n, m)
        own = mu.reshape(n, m, n, m).sum(axis=3 if by_source else 2)
        given = rows[:, None, :] if by_source else rows[None, :, :]
        return (own - arrived[:, :, None] * given).ravel()

    def objective(flat):
        mu = np.maximum(flat.reshape(size, size), 1e-300)
        nu = mu.sum(axis=1, keepdims=True)
        return (mu.sum(axis=1) * problem.cost.ravel()).sum() + (mu * np.log(mu / nu / before)).sum() / eta

    first = occupancy(problem, before.reshape(n, m, n, m))[:, None] * before
    found = optimize.minimize(
        objective,
        first.ravel(),
        method="SLSQP",
        bounds=[(1e-12, 1.0)] * size**2,
        constraints={"type": "eq", "fun": constraint},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert found.success, found.message
    mu = found.x.reshape(size, size)
    np.testing.assert_allclose(mu / mu.sum(axis=1, keepdims=True), after, atol=2e-5)
    assert np.abs(after - before).max() > 1e-2


# ------------------------------------------------------------------ options


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step_size": 0.0}, "step_size is 0.0"),
        ({"step_size": -1.0}, "step_size is"),
        ({"step_size": np.inf}, "step_size is inf"),
        ({"step_size": np.nan}, "step_size is nan"),
        ({"step_size": True}, "step_size is True"),
        ({"step_size": "fast"}, "step_size is 'fast'"),
        ({"inner_steps": 0}, "inner_steps is 0"),
        ({"inner_steps": 1.5}, "inner_steps is"),
        ({"inner_steps": 0.0}, "inner_steps is"),
        ({"inner_steps": True}, "inner_steps is"),
        ({"rounds": 0}, "rounds is 0"),
        ({"rounds": 2.0}, "rounds is"),
        ({"initial": "random"}, "initial is 'random'"),
        ({"output": "best"}, "output is 'best'"),
        ({"rounds": 5, "step_size": bm.FromTheorem(1.0)}, "rounds are set by FromTheorem"),
    ],
)
def test_options_out_of_range(method, options, message):
    """Refused when the solver is made."""
    with pytest.raises(InvalidOption, match=message):
        method(**options)


@pytest.mark.parametrize("method", METHODS)
def test_numbers_of_numpy(method):
    """Options may be numpy's numbers, with the same result as Python's."""
    problem = _small_problem()
    for theirs, ours in (
        (method(step_size=np.float32(1.0), inner_steps=np.int64(2), rounds=np.int32(4)), method(1.0, 2, rounds=4)),
        (method(inner_steps=np.array(3), rounds=np.array(4)), method(inner_steps=3, rounds=4)),
        (method(inner_steps=np.float32(0.25), rounds=np.uint8(4)), method(inner_steps=0.25, rounds=4)),
    ):
        assert repr(theirs) == repr(ours)
        np.testing.assert_array_equal(bm.solve(problem, theirs).value, bm.solve(problem, ours).value)


@pytest.mark.parametrize("method", METHODS)
def test_steps_that_are_nothing(method):
    """A step so small that dividing by it overflows is refused with a remedy, not by the checker."""
    with pytest.raises(InvalidOption, match="take a larger step_size"):
        bm.solve(_small_problem(), method(step_size=1e-305))


def _small_problem():
    rooms = bm.environments.four_rooms
    return bm.Problem(rooms(side=2), rooms(side=3), discount=0.5)


@pytest.mark.parametrize("number", [0.0, -1.0, np.nan, np.inf, "1"])
def test_schedules_out_of_range(number):
    """The same for what schedules are made of."""
    for schedule in (bm.Decaying, bm.FromTheorem):
        with pytest.raises(InvalidOption, match="positive finite number"):
            schedule(number)


@pytest.mark.parametrize("method", METHODS)
def test_steps_beyond_the_range_of_numbers(method):
    """Λ must stay finite; said before any work."""
    with pytest.raises(InvalidOption, match="leaves the range of numbers"):
        bm.solve(tiny(), method(step_size=1e300))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step_size", [1e-200, 1e250, 1e-3, 1e9])
def test_any_step_is_finite(method, step_size):
    """Rough perhaps, but finite and certified."""
    problem = tiny(4, 3, discount=0.95)
    solution = bm.solve(problem, method(step_size=step_size, rounds=30))
    exact = bm.solve(problem)
    assert np.isfinite(solution.upper).all()
    assert (solution.lower <= exact.upper).all()
    assert (exact.lower <= solution.upper).all()


@pytest.mark.parametrize("method", METHODS)
def test_more_rounds_come_closer(method):
    """With decaying steps the last iterate converges; a good start helps from the first round on."""
    problem = bm.Problem(bm.environments.small_four_rooms("a"), bm.environments.small_four_rooms("b"), discount=0.9)
    exact = bm.solve(problem).value
    errors = [
        np.abs(bm.solve(problem, method(rounds=rounds)).value - exact).max() / exact.max() for rounds in (5, 50, 500)
    ]
    assert errors[2] < 0.03
    assert errors[2] < errors[1] < errors[0]
    assert len(bm.solve(problem, method(inner_steps=2)).history) == DEFAULT_ROUNDS


def test_answers_scale_with_the_cost():
    """By default η is relative to the largest cost, so a power of two changes no digit."""
    problem = tiny(4, 3, discount=0.9)
    for method in METHODS:
        one = bm.solve(problem, method(rounds=10))
        scaled = bm.Problem(problem.source, problem.target, discount=0.9, cost=problem.cost * 2.0**40)
        other = bm.solve(scaled, method(rounds=10))
        assert np.array_equal(one.value * 2.0**40, other.value)


def test_memory_of_a_solve():
    """With the last iterate: at most three times nm(n + m) doubles beyond the inputs, checker included."""
    random = np.random.default_rng(0)
    n = 50
    chains = [bm.MarkovChain(random.dirichlet(np.ones(n), n)) for _ in range(2)]
    problem = bm.Problem(*chains, discount=0.95, cost=random.random((n, n)))
    solver = METHODS[0](rounds=2)
    bm.solve(problem, solver)  # all its kernels are loaded
    tracemalloc.start()
    bm.solve(problem, solver)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 3 * 8 * n * n * (n + n)
