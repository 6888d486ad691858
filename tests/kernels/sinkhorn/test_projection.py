"""The factored form against the plain recursion in extended precision, iterate by iterate."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.couplings import factored
from bisimetric.couplings.factored import Factored
from bisimetric.couplings.rounded import back_up
from bisimetric.couplings.witness import pair_cells
from bisimetric.operators.bellman import Bellman
from tests import reference

ULPS = 8  # of the largest |log A|
ABSOLUTE = 1e-12
OWN_MARGINAL = 1e-12


def problem_of(n, m, *, density=1.0, cost=1.0, seed=0, discount=0.9):
    """Random chains; with a density below one some transitions are missing."""
    random = np.random.default_rng(seed)
    chains = []
    for size in (n, m):
        matrix = random.random((size, size)) * (random.random((size, size)) < density) + 1e-3 * np.eye(size)
        chains.append(bm.MarkovChain(matrix / matrix.sum(axis=1, keepdims=True)))
    return bm.Problem(*chains, discount=discount, cost=cost * random.random((n, m)))


def log_couplings(state):
    """log π [n, m, n, m] of a factored state, in extended precision."""
    bellman = state.bellman
    n, m = bellman.shape
    scalings = state.scalings
    log = np.full((n, m, n, m), -np.inf, np.longdouble)
    for x in range(n):
        to_x = bellman.source.indices[bellman.source.indptr[x] : bellman.source.indptr[x + 1]]
        p = bellman.source.data[bellman.source.indptr[x] : bellman.source.indptr[x + 1]]
        for y in range(m):
            to_y = bellman.target.indices[bellman.target.indptr[y] : bellman.target.indptr[y + 1]]
            q = bellman.target.data[bellman.target.indptr[y] : bellman.target.indptr[y + 1]]
            at_x = m * bellman.source.indptr[x] + y * len(p)
            at_y = x * len(bellman.target.data) + bellman.target.indptr[y]
            a, b = slice(at_x, at_x + len(p)), slice(at_y, at_y + len(q))
            cells = np.ix_(to_x, to_y)
            whole = scalings.a[a].astype(np.longdouble)[:, None] + scalings.b[b][None, :] + state.whole[cells]
            rest = scalings.a_rest[a][:, None] + scalings.b_rest[b][None, :] + state.rest[cells]
            weight = np.log(p.astype(np.longdouble))[:, None] + np.log(q.astype(np.longdouble))[None, :]
            log[x, y][cells] = whole + rest + weight
    return log


def assert_same_rounds(problem, steps, *, looks, inner_steps=1):
    """All couplings and values agree in the rounds to look at, and everything is finite."""
    bellman = Bellman.of(problem)
    state = Factored.start(bellman, "independent")
    expected = [np.zeros(problem.shape), np.zeros(problem.shape)]
    plain = reference.sinkhorn_rounds(problem, steps, inner_steps=inner_steps)
    for k, (step, (log, truth, largest)) in enumerate(zip(steps, plain, strict=True), start=1):
        side, eta = (k + 1) % 2, step / bellman.scale
        for _ in range(inner_steps):
            expected[side] = state.probe(side == 0, eta, expected[side])
        state.project(side == 0, eta, expected[side])
        if k not in looks:
            continue
        allowed = ABSOLUTE + ULPS * np.spacing(largest)
        ours = log_couplings(state)
        inside = np.isfinite(log.astype(float))
        assert np.array_equal(inside, np.isfinite(ours.astype(float)))
        assert np.abs(ours[inside] - log[inside]).max() <= allowed, k
        assert np.abs(expected[side] / bellman.scale - truth).max() * step <= allowed, k
        assert state.marginals()[side].max() <= OWN_MARGINAL, k


LOOKS = {1, 2, 3, 7, 20, 50, 100, 199, 200, 1999, 2000, 20_000}


@pytest.mark.parametrize("eta", [1.0, 1e3])
@pytest.mark.parametrize("cost", [1.0, 1e6])
@pytest.mark.parametrize("density", [1.0, 0.5])
def test_same_iterates(cost, eta, density):
    """The same couplings and values, whatever the cost and the step, and each round's own marginals hold."""
    assert_same_rounds(problem_of(4, 3, density=density, cost=cost), [eta] * 200, looks=LOOKS)


@pytest.mark.parametrize("density", [1.0, 0.4])
def test_same_iterates_with_decaying_steps(density):
    """η₀/√k, several applications of the operator a round."""
    steps = [10.0 / np.sqrt(k) for k in range(1, 101)]
    assert_same_rounds(problem_of(3, 5, density=density), steps, looks=LOOKS, inner_steps=3)


@pytest.mark.parametrize("density", [1.0, 0.7])
def test_same_iterates_on_large_supports(density):
    """Sizes at which matrix products take over, with and without full supports."""
    assert_same_rounds(problem_of(9, 8, density=density), [1.0] * 60, looks=LOOKS)


@pytest.mark.slow
@pytest.mark.parametrize("eta", [1.0, 1e3])
@pytest.mark.parametrize("cost", [1.0, 1e6])
def test_same_iterates_for_long(cost, eta):
    """20 000 rounds."""
    assert_same_rounds(problem_of(3, 2, cost=cost), [eta] * 20_000, looks=LOOKS)


@pytest.mark.parametrize("initial", ["independent", "uniform"])
def test_initial_couplings(initial):
    """The product of the rows, or equal mass on all pairs of successors."""
    problem = problem_of(4, 3, density=0.6)
    state = Factored.start(Bellman.of(problem), initial)
    P, Q = (chain.transitions.toarray() for chain in (problem.source, problem.target))
    if initial == "uniform":
        P, Q = ((matrix > 0) / (matrix > 0).sum(axis=1, keepdims=True) for matrix in (P, Q))
    np.testing.assert_allclose(np.exp(log_couplings(state)).astype(float), np.einsum("xi,yj->xyij", P, Q), rtol=1e-14)


@pytest.mark.parametrize("density", [1.0, 0.8])
def test_all_ways_to_a_sum_agree(density, monkeypatch):
    """Full supports, matrix products, sums pair by pair, and each pair relative to its own largest term."""
    problem = problem_of(9, 10, density=density)
    bellman = Bellman.of(problem)
    expected = np.random.default_rng(1).random(problem.shape)
    found = []
    for full, product_pairs, drift in (
        (True, 1, 0.0),
        (False, 1, 0.0),
        (False, 1, 1e4),
        (False, 10**9, 0.0),
        (False, 10**9, 1e4),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(factored, "PRODUCT_PAIRS", product_pairs)
            if not full:
                patched.setattr(Factored, "is_full", lambda self: False)
            state = Factored.start(bellman, "independent")
            state.probe(True, 1.0, expected)
            for centre in (state._centre_x, state._centre_y):  # with a drift: references that no pair fits
                centre[::2] += drift
            state.project(True, 2.0, expected)
            found.append((state.probe(False, 2.0, expected), log_couplings(state)))
    for other in found[1:]:
        np.testing.assert_allclose(other[0], found[0][0], rtol=0, atol=1e-13)
        inside = np.isfinite(found[0][1].astype(float))
        np.testing.assert_allclose(
            other[1][inside].astype(float), found[0][1][inside].astype(float), rtol=0, atol=1e-13
        )


def test_exponentials_and_logarithms():
    """To two units in the last place, with the argument of exp in two parts."""
    random = np.random.default_rng(0)
    whole, rest = np.rint(random.uniform(-700, 700, 999)), random.uniform(-1.5, 1.5, 999)
    out, scratch = np.empty(999), np.empty(999)
    kernels.sinkhorn.elementary.exp_parts(999, whole, rest, out, scratch)
    truth = np.exp(whole.astype(np.longdouble) + rest)
    assert np.abs(out / truth - 1).max() < 2 * np.finfo(float).eps
    kernels.sinkhorn.elementary.exp_parts(2, np.array([-800.0, -1e300]), np.zeros(2), out, scratch)
    assert not out[:2].any()
    x = np.concatenate([10.0 ** random.uniform(-300, 300, 500), 1 + random.uniform(-1e-3, 1e-3, 499)])
    log = np.log(x.astype(np.longdouble))
    kernels.sinkhorn.elementary.log_all(999, x.copy(), out, scratch)
    assert (np.abs(out - log) <= 2 * np.finfo(float).eps * np.maximum(np.abs(log), 1e-300) + 1e-19).all()


def test_cells_of_unrounded_couplings():
    """The kernel behind averages gives the couplings as they are."""
    problem = problem_of(4, 3, density=0.6)
    state = Factored.start(Bellman.of(problem), "independent")
    state.project(True, 2.0, problem.cost.copy())
    cells = pair_cells(state.bellman, 0, 12)
    rows = (state.bellman.source, state.bellman.target)
    kernels.sinkhorn.rounding.rounded(0, 12, *rows, state.scalings, state.whole, state.rest, False, cells)
    log = log_couplings(state)
    assert cells.weight.sum() == pytest.approx(np.exp(log).sum().astype(float))


@pytest.mark.parametrize("step", [1.0, 1e3])
@pytest.mark.parametrize("sizes", [(9, 8), (8, 8)])
def test_rounding_by_products(sizes, step, monkeypatch):
    """On full supports the rounded couplings act as those that are computed cell by cell, in every round."""
    problem = problem_of(*sizes)
    bellman = Bellman.of(problem)
    state = Factored.start(bellman, "independent")
    vector = np.random.default_rng(2).random(problem.shape)
    expected = np.zeros(problem.shape)
    for k in range(30):
        by_products = back_up(state, vector)
        with monkeypatch.context() as patched:
            patched.setattr(Factored, "is_full", lambda self: False)
            cell_by_cell = back_up(state, vector)
        np.testing.assert_allclose(by_products, cell_by_cell, rtol=0, atol=1e-14)
        expected = state.probe(k % 2 == 0, step, expected)
        state.project(k % 2 == 0, step, expected)


def test_rounding_out_of_range():
    """Scalings that no product can take are left to the other kernel, which makes couplings of anything."""
    problem = problem_of(8, 8)
    state = Factored.start(Bellman.of(problem), "independent")
    state.project(True, 1.0, problem.cost.copy())
    state.scalings.a[:] += 2000.0
    state.scalings.b[::2] -= 4000.0
    backed_up = back_up(state, np.ones(problem.shape)) - state.bellman.scaled_cost()
    np.testing.assert_allclose(backed_up, problem.discount, rtol=1e-12)


@pytest.mark.parametrize("projections", [3, 4])
def test_weights_follow_their_side(projections):
    """The same side twice, or the other one: weights that were left for a projection are used for no other."""
    problem = problem_of(9, 9)
    values = []
    for fresh in (False, True):
        state = Factored.start(Bellman.of(problem), "independent")
        for _ in range(2):
            for k in range(projections):
                state.balance(k % 2 == 0)
                if fresh:
                    state._weights = None
            state.project(True, 1.0, problem.cost.copy())
        values.append(log_couplings(state).astype(float))
    np.testing.assert_allclose(*values, rtol=0, atol=1e-13)


def plain_projection(log, rows, side, relaxation):
    """log π after a half projection on one side, moved `relaxation` times as far, in extended precision."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.log(np.exp(log).sum(axis=3 - side))
        wanted = np.log(rows)[:, None, :] if side == 0 else np.log(rows)[None, :, :]
        move = np.where(np.isfinite(sums), wanted - sums, 0)
    return log + relaxation * (move[..., None] if side == 0 else move[..., None, :])


@pytest.mark.parametrize("relaxation", [1.0, 1.85, 1.3])
@pytest.mark.parametrize(("sizes", "density"), [((9, 8), 1.0), ((8, 8), 1.0), ((9, 10), 0.7), ((4, 3), 0.5)])
def test_over_relaxed_projections(sizes, density, relaxation):
    """Scalings move ω times as far as the plain projection moves them, on full and on sparse supports."""
    problem = problem_of(*sizes, density=density)
    state = Factored.start(Bellman.of(problem), "independent")
    rows = [chain.transitions.toarray().astype(np.longdouble) for chain in (problem.source, problem.target)]
    state.project(True, 5.0, problem.cost.copy())
    for k in range(1, 7):
        before = log_couplings(state)
        state.balance(k % 2 == 0, relaxation)
        expected = plain_projection(before, rows[k % 2], k % 2, relaxation)
        inside = np.isfinite(before.astype(float))
        found = log_couplings(state)
        np.testing.assert_allclose(found[inside].astype(float), expected[inside].astype(float), rtol=0, atol=1e-12)


@pytest.mark.parametrize("drift", [0.0, 1e4])
def test_over_relaxation_where_pairs_stand_alone(drift):
    """The same for pairs that do not fit the shared kernel."""
    problem = problem_of(9, 10, density=0.8)
    found = []
    for moved in (0.0, drift):
        state = Factored.start(Bellman.of(problem), "independent")
        state.project(True, 2.0, problem.cost.copy())
        for centre in state.centres():
            centre[::2] += moved
        state.balance(False, 1.85)
        found.append(log_couplings(state).astype(float))
    inside = np.isfinite(found[0])
    np.testing.assert_allclose(found[1][inside], found[0][inside], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("sizes", "density", "stopping"), [((9, 9), 1.0, False), ((5, 7), 0.6, True)])
def test_misfit(sizes, density, stopping):
    """The mean of √(2·KL) between the marginals wanted and found; above the 1-norm, and without effect."""
    problem = problem_of(*sizes, density=density)
    stop = np.random.default_rng(1).random(sizes) < 0.3 if stopping else None
    problem = bm.Problem(problem.source, problem.target, discount=0.9, cost=problem.cost, stop=stop)
    state = Factored.start(Bellman.of(problem), "independent")
    assert state.misfit() == pytest.approx(0.0, abs=1e-7)
    state.project(True, 5.0, problem.cost.copy())
    log = log_couplings(state)
    found = state.misfit()
    assert np.array_equal(log, log_couplings(state))
    plans = np.exp(log).astype(float)
    Q = problem.target.transitions.toarray()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(Q[None] > 0, Q[None] * np.log(Q[None] / plans.sum(axis=2)), 0.0)
    going = np.ones(sizes, bool) if stop is None else ~stop
    divergence = np.maximum(terms.sum(axis=2), 0.0)
    assert found == pytest.approx(np.sqrt(2 * divergence)[going].mean(), rel=1e-6)
    assert found >= state.marginals()[1][going].mean()


def test_sharpen_doubles_the_scalings():
    """Exactly: twice the whole numbers and twice the rests, again within a half."""
    problem = problem_of(5, 4, density=0.7)
    state = Factored.start(Bellman.of(problem), "independent")
    state.project(True, 30.0, problem.cost.copy())
    before = [np.copy(part) for part in state.scalings]
    state.sharpen()
    for k in (0, 2):
        whole, rest = state.scalings[k], state.scalings[k + 1]
        assert np.array_equal(whole + rest.astype(np.longdouble), 2 * (before[k] + before[k + 1].astype(np.longdouble)))
        assert np.abs(rest).max() <= 0.5


@pytest.mark.parametrize("output", ["last", "average"])
def test_as_in_paper_is_the_plain_recursion(output):
    """R rounds end with π_{R+1} of the plain recursion; its value, rounded, is the answer's."""
    problem = problem_of(4, 3, density=0.6)
    rounds = 250
    solver = bm.SinkhornValueIteration.as_in_paper(step_size=1.0, rounds=rounds, output=output)
    bellman = Bellman.of(problem)
    iterate = solver.init(bellman, None)
    plain = reference.sinkhorn_rounds(problem, [1.0] * rounds)
    for k, (log, _, _) in enumerate(plain, start=1):
        assert iterate.k == k
        if k in LOOKS or k == rounds:
            inside = np.isfinite(log.astype(float))
            ours = log_couplings(iterate.factored)
            np.testing.assert_allclose(ours[inside].astype(float), log[inside].astype(float), rtol=0, atol=1e-11)
        if k < rounds:
            iterate = solver.step(bellman, iterate)
    assert iterate.finished
