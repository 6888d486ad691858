"""Hypothesis settings, and the solvers that every law is tried on."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, currently_in_test_context, settings

import bisimetric as bm
from bisimetric import solvers
from bisimetric._support import memory
from bisimetric.solvers.base import AnySolver
from bisimetric.solving import chains as chain_question
from tests.processes import LARGE, LARGE_ENOUGH_FOR_COMPACT_TREES

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs; tests of Ctrl-C need it back
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("BISIMETRIC_EXAMPLES", "15")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")


@pytest.fixture(scope="session", autouse=True)
def kernels_return_plain_values() -> Iterator[None]:
    """Checked at the end, on all that were compiled or loaded: see `kernels/_compile.py`, kernel()."""
    yield
    if "numba" not in sys.modules:
        return
    from numba import types
    from numba.core.dispatcher import Dispatcher

    for kernel in [thing for thing in gc.get_objects() if issubclass(type(thing), Dispatcher)]:
        inside = kernel.targetoptions.get("no_cpython_wrapper", False)
        if inside or not kernel.py_func.__module__.startswith("bisimetric."):
            continue
        for signature in kernel.nopython_signatures:
            returned = signature.return_type
            parts = returned.types if type(returned) in {types.Tuple, types.UniTuple} else [returned]
            plain = all(isinstance(part, (types.Number, types.Boolean, types.NoneType)) for part in parts)
            assert plain, f"{kernel.py_func.__qualname__} returns {returned}"


@pytest.fixture(scope="session")
def compiled_kernels() -> None:
    """Compile what the default solver needs, so that other processes find it in the cache."""
    random = np.random.default_rng(0)
    sparse = [bm.environments.random_sparse_chain(LARGE, 4, seed=k) for k in range(2)]
    compact = [bm.environments.random_sparse_chain(LARGE_ENOUGH_FOR_COMPACT_TREES, 4, seed=k) for k in range(2)]
    dense = [bm.MarkovChain(random.dirichlet(np.full(60, 0.1), 60)) for _ in range(2)]
    for chains in (sparse, compact, dense):
        bm.solve(bm.Problem(*chains, discount=0.8, cost=random.random((chains[0].n_states, chains[1].n_states))))


@pytest.fixture
def free_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Called with a number of bytes: no more are free from now on, and even the smallest need is checked."""

    def limit(size: int | None) -> None:
        monkeypatch.setattr(memory, "available_bytes", lambda: size)
        monkeypatch.setattr(memory, "NEGLIGIBLE", 0)

    return limit


@pytest.fixture
def classes_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes of bisimilar states are looked for in problems of any size."""
    monkeypatch.setattr(chain_question, "FEWEST_PAIRS", 1)


@dataclass(frozen=True)
class Exact:
    """An exact solver, and what the laws may ask of it."""

    name: str
    largest_discount: float = 1.0  # beyond, it takes too long for a test
    largest_problem: int = 100_000  # pairs of states, likewise
    proves_zeros: bool = True  # its couplings have exact marginals

    @property
    def tol(self) -> float:
        """The relative gap that it reaches by default."""
        return solvers.all_solvers()[self.name].default_tol

    def solve(self, problem: bm.Problem, **options: Any) -> bm.Solution:
        """The solver's answer; examples out of its reach are passed over."""
        if problem.discount <= self.largest_discount and problem.cost.size <= self.largest_problem:
            return bm.solve(problem, solvers.all_solvers()[self.name](), **options)
        if currently_in_test_context():
            assume(False)
        pytest.skip("out of this solver's reach")


EXACT = (  # adding an exact solver to every law is one line here
    Exact("policy-iteration"),
    Exact("value-iteration", largest_discount=0.95),
    Exact("linear-program", largest_problem=100, proves_zeros=False),
)
APPROXIMATE: tuple[AnySolver, ...] = (  # adding an approximate solver to every law is one line here
    bm.SinkhornValueIteration(rounds=20),
    bm.SinkhornValueIteration(rounds=7, step_size=1e3, inner_steps=3, initial="uniform"),
    bm.SinkhornValueIteration(rounds=5, step_size=bm.Decaying(2.0), inner_steps=1e-6),
    bm.SinkhornValueIteration(rounds=6, output="average"),
    bm.SinkhornValueIteration(step_size=bm.FromTheorem(epsilon=1e300), initial="uniform", output="average"),
    bm.SinkhornValueIteration(rounds=200),
    bm.SinkhornPolicyIteration(rounds=20),
    bm.SinkhornPolicyIteration(rounds=9, step_size=1e3, projections=6),
    bm.SinkhornPolicyIteration(rounds=7, step_size=1e3, inner_steps=3, initial="uniform"),
    bm.SinkhornPolicyIteration(rounds=6, step_size=bm.Decaying(2.0), inner_steps=1e-6, output="average"),
    bm.EntropicPolicyIteration(rounds=2, projections=10),
    bm.EntropicPolicyIteration(rounds=2, projections=3, sharpness=1e4, evaluation_steps=5, warm_start=False),
    bm.SinkhornBellman(rounds=10, projections=6),
    bm.SinkhornBellman(rounds=3, projections=9, regularisation=1e-5, warm_start=False),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument `exact_solver` or `approximate_solver` runs once for each of them."""
    if "exact_solver" in metafunc.fixturenames:
        metafunc.parametrize("exact_solver", EXACT, ids=lambda solver: solver.name)
    if "approximate_solver" in metafunc.fixturenames:
        names = [f"{solver.name}-{k}" for k, solver in enumerate(APPROXIMATE)]
        metafunc.parametrize("approximate_solver", APPROXIMATE, ids=names)


@pytest.fixture
def known_solvers() -> set[str]:
    """The names that this suite knows about."""
    return {solver.name for solver in (*EXACT, *APPROXIMATE)}
