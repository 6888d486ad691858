"""Threads and the lengths of blocks leave no trace in the results, and solves none in their inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric._support import blocks
from tests import strategies


def test_inputs_are_never_modified(exact_solver):
    """Arrays handed in are the same afterwards, bit by bit, and can still be written to."""
    random = np.random.default_rng(3)
    dense, cost, mask = random.dirichlet(np.ones(4), 4), random.random((4, 4)), random.random((4, 4)) < 0.2
    stored = strategies.stored_with_zeros(np.array([[0.5, 0.5, 0, 0]] * 4))
    reward, start, guess = random.random(4), random.dirichlet(np.ones(4)), random.random((4, 4))
    arrays = [dense, cost, mask, stored.data, stored.indices, stored.indptr, reward, start, guess]
    before = [array.tobytes() for array in arrays]
    source = bm.MarkovChain(dense, reward=reward, start=start)
    target = bm.MarkovChain(stored, reward=reward, start=start)
    problem = bm.Problem(source, target, discount=0.9, cost=cost, stop=mask)
    kept = [problem.cost.tobytes(), source.transitions.data.tobytes(), target.transitions.data.tobytes()]
    solution = exact_solver.solve(problem, initial=guess)
    bm.certify(problem, guess)
    solution.coupling.occupancy()
    solution.explain()
    assert [array.tobytes() for array in arrays] == before
    assert kept == [problem.cost.tobytes(), source.transitions.data.tobytes(), target.transitions.data.tobytes()]
    for array in arrays:
        assert array.flags.writeable


# ------------------------------------------------------------------ threads


def sparse_chain(n, successors, seed):
    """A chain with ties and few successors."""
    random = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), successors)
    columns = np.concatenate([random.choice(n, successors, replace=False) for _ in range(n)])
    return sparse.csr_array((np.full(n * successors, 1 / successors), (rows, columns)), shape=(n, n))


def answer(solver, problem, **options):
    """Everything that must not depend on threads, as bytes."""
    solution = solver.solve(problem, **options)
    coupling = solution.coupling.matrix()
    parts = (solution.value, solution.lower, solution.upper, coupling.indptr, coupling.indices, coupling.data)
    return [part.tobytes() for part in parts]


@pytest.mark.parametrize("n", [60, 240], ids=["sweeps", "krylov"])  # 3600 and 57,600 pairs
def test_threads_do_not_matter(exact_solver, monkeypatch, n):
    """The same bits with 1, 2 and 3 threads, at a size from which sweeps, and products too, take several."""
    cost = np.random.default_rng(5).integers(0, 4, (n, n + 1)).astype(float)
    problem = bm.Problem(
        bm.MarkovChain(sparse_chain(n, 3, 1)), bm.MarkovChain(sparse_chain(n + 1, 3, 2)), discount=0.9, cost=cost
    )
    answers = []
    for threads in "123":
        monkeypatch.setenv("BISIMETRIC_THREADS", threads)
        answers.append(answer(exact_solver, problem))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("crowd", [3, 30], ids=["small", "mixed"])
def test_block_length_does_not_matter(exact_solver, monkeypatch, crowd):
    """How work is cut into blocks depends on the clock; the answer does not, also if a few supports are large."""
    n = 60
    chains = []
    for seed in (1, 2):
        matrix = sparse_chain(n, 3, seed).toarray()
        matrix[0] = 0.0
        matrix[0, :crowd] = 1.0 / crowd
        chains.append(bm.MarkovChain(matrix))
    cost = np.random.default_rng(5).integers(0, 3, (n, n)).astype(float)
    problem = bm.Problem(*chains, discount=0.95, cost=cost)
    answers = []
    for seconds in (1e-9, 10.0):
        monkeypatch.setattr(blocks, "BLOCK_SECONDS", seconds)
        answers.append([answer(exact_solver, problem), answer(exact_solver, problem, max_steps=1)])
    assert answers[0] == answers[1]
