"""Compile every kernel once, by small problems of every kind, so that later calls of this or other processes do not.

A kernel is compiled for the types of its arguments when it is first called, and the code is kept in the cache folder.
The table `TASKS` has a small problem for each kind of kernels: short and long rows, few and many pairs, listed pairs,
games, classes, each solver, derivatives and the other objectives. A new kind of kernels is one more line.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from bisimetric import solvers
from bisimetric._distance import distance
from bisimetric._support.compiling import COMPILING
from bisimetric._support.frozen import changed
from bisimetric._support.options import function_or_none
from bisimetric.bisimulation.aggregation import aggregate
from bisimetric.bisimulation.metric import bisimilarity_distance, bisimulation_metric
from bisimetric.bisimulation.quotient import quotient
from bisimetric.environments.random_chains import random_sparse_chain
from bisimetric.linear.direct import Factors
from bisimetric.many.solve_many import solve_many
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.objectives.average import average_distance
from bisimetric.operators.bellman import Bellman
from bisimetric.problems.discounted import Problem
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.solving.solve import solve

WARM_UP_STATES = 320  # of a chain with which evaluations are shared between threads
WARM_UP_LISTED_STATES = 400  # of a chain against itself for the same, where one pair of each two is solved
WARM_UP_LONG = 260  # successors that do not fit into one byte
WARM_UP_STEPS = 40  # of every solver
WARM_UP_TOL = 1e-6  # relative gap that will do there
WARM_UP_ROUGH_TOL = 0.1  # the same for long rows
WARM_UP_DISCOUNT = 0.9999  # discount at which evaluations need a preconditioner


def _rows(n: int, width: int, seed: int) -> MarkovChain:
    """A chain whose states have `width` successors, with rewards, labels and a start."""
    random = np.random.default_rng(seed)
    matrix = np.zeros((n, n))
    for x in range(n):
        matrix[x, random.permutation(n)[:width]] = random.dirichlet(np.ones(width))
    return MarkovChain(matrix, reward=random.integers(0, 4, n), labels=(np.arange(n) % 3).tolist(), start=0)


def _distances(width: int, n: int) -> None:
    """Between two chains, and of one from itself, with an explanation."""
    chain, other = _rows(n, width, 0), _rows(n, width, 1)
    distance(chain, other, discount=0.9).explain()
    bisimulation_metric(chain, discount=0.9)


def _long_rows() -> None:
    """Rows whose trees need codes of 16 bits, full ones and others; and products with long rows in threads."""
    for width in (WARM_UP_LONG, WARM_UP_LONG - 2):
        distance(_rows(WARM_UP_LONG, width, 0), _rows(3, 3, 1), discount=0.9).explain()
    for n in (WARM_UP_LONG // 3, WARM_UP_LONG // 2 + 1):
        distance(_rows(n, n, 0), _rows(n, n, 1), discount=0.5, tol=WARM_UP_ROUGH_TOL).explain()


def _many_pairs() -> None:
    """Shared between threads: compact trees, without a preconditioner and with one; one chain against itself."""
    chains = [random_sparse_chain(WARM_UP_STATES, 4, seed=k) for k in range(2)]
    cost = np.random.default_rng(0).random((WARM_UP_STATES, WARM_UP_STATES))
    for discount in (0.9, WARM_UP_DISCOUNT):
        solve(Problem(*chains, discount=discount, cost=cost), tol=WARM_UP_TOL)
    bisimulation_metric(random_sparse_chain(WARM_UP_LISTED_STATES, 4, seed=0), discount=0.9, tol=WARM_UP_TOL)


def _reachable() -> None:
    """Only the pairs that the starts lead to."""
    distance(_rows(40, 2, 0), _rows(40, 2, 1), discount=0.9, pairs="reachable")


def _side_by_side() -> None:
    """Small problems in one call, with costs that are exact and that are not."""
    chains = [_rows(4, 3, k) for k in range(3)]
    problems = [Problem(a, b, discount=0.9, normalised=k > 0) for k in range(2) for a in chains for b in chains]
    solve_many(problems)


def _uncertain() -> None:
    """Chains that are known up to errors of their rows and starts."""
    for n, width in ((6, 3), (24, 24)):
        chains = [changed(_rows(n, width, k), row_error=np.full(n, 0.1), start_error=0.1) for k in range(2)]
        distance(*chains, discount=0.9).interval  # noqa: B018


def _labels() -> None:
    """Labels that end a game, with a discount and without."""
    for width, n in ((3, 8), (12, 24), (24, 24)):
        chain, other = _rows(n, width, 0), _rows(n + 1, width, 1)
        for discount in (0.9, 1.0):
            bisimilarity_distance(chain, other, discount=discount).explain()


def _doubled(chain: MarkovChain) -> MarkovChain:
    """The chain with two copies of every state."""
    n = 2 * chain.n_states
    return MarkovChain(
        np.kron(chain.transitions.toarray(), np.full((2, 2), 0.5)), reward=np.arange(n) // 2 % 4, start=0
    )


def _classes() -> None:
    """Classes of bisimilar states, distances proved to be zero, solutions lifted from classes, aggregation."""
    chain, doubled = _rows(30, 3, 0), _doubled(_rows(30, 3, 0))
    quotient(doubled)
    distance(doubled, doubled.with_start(1), discount=0.9)
    bisimulation_metric(_doubled(_rows(6, 3, 0)), discount=0.9)
    aggregate(chain, n_states=5, discount=0.9)


def _games() -> None:
    """Decision processes: metrics and best policies."""
    chains = [_rows(6, 3, k) for k in range(2)]
    rewards = np.random.default_rng(0).random((6, 2))
    mdp = MDP([chain.transitions for chain in chains], rewards, start=0)
    bisimulation_metric(mdp, discount=0.9)
    mdp.optimal_policy(0.9)


def _approximate() -> None:
    """Every solver on short rows, and those that run rounds on full ones."""
    for width, n in ((3, 5), (24, 24)):
        problem = Problem(_rows(n, width, 0), _rows(n, width, 1), discount=0.9)
        for solver in solvers.all_solvers().values():
            if width < n or solver.default_tol == 0.0:
                solve(problem, solver(), max_steps=WARM_UP_STEPS, throw=False)


def _derivatives() -> None:
    """Gradients on all states and on classes, and of decision processes; occupancies of large couplings."""
    chains = [_rows(6, 3, 0), _doubled(_rows(30, 3, 0))]
    for chain in chains:
        distance(chain, chain.with_start(1), discount=0.9).gradient()
    rewards = np.random.default_rng(0).random((6, 2))
    mdp = MDP([_rows(6, 3, k).transitions for k in range(2)], rewards, start=0)
    bisimulation_metric(mdp, mdp.with_start(1), discount=0.9).gradient()
    large = [random_sparse_chain(WARM_UP_STATES, 4, seed=k).with_start(0) for k in range(2)]
    distance(*large, discount=0.9, tol=WARM_UP_TOL).gradient()


def _objectives() -> None:
    """Average costs of chains with transient states and periods, and finite horizons, with their gradients."""
    passing = [[0, 0.5, 0.5, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    for chain in (_rows(6, 3, 0), MarkovChain(passing, reward=[0, 1, 2, 3], start=0)):
        average_distance(chain, _rows(6, 3, 1)).gradient()
        solve(HorizonProblem(chain, _rows(6, 3, 1), horizon=3)).gradient()


def _nearby() -> None:
    """Problems near a solved one, as in comparisons of logs and in searches for small chains."""
    for n, width in ((6, 3), (24, 24)):
        chain, other = _rows(n, width, 0), _rows(n, width, 1)
        solver, bellman = solvers.PolicyIteration(), Bellman.of(Problem(chain, other, discount=0.9))
        solver.resume(bellman, solver.init(bellman, None).witness)


def _eliminations() -> None:
    """Systems in which something leads nowhere back, with places of both widths."""
    for kind in (np.int32, np.int64):
        path = sparse.csr_array(np.eye(3, k=1))
        path.indices, path.indptr = path.indices.astype(kind), path.indptr.astype(kind)
        Factors(path, 0.9).once(np.ones(3), 0.0)


TASKS: dict[str, Callable[[], None]] = {
    "distances between chains with few successors": lambda: _distances(3, 6),
    "distances between chains with many successors": lambda: _distances(12, 24),
    "distances between chains with full rows": lambda: _distances(24, 24),
    "distances between chains with hundreds of successors": _long_rows,
    "distances between many pairs of states": _many_pairs,
    "distances between the pairs that starts lead to": _reachable,
    "many small problems": _side_by_side,
    "chains with row errors": _uncertain,
    "bisimilarity distances": _labels,
    "classes and aggregation": _classes,
    "decision processes": _games,
    "the other solvers": _approximate,
    "gradients": _derivatives,
    "average costs and finite horizons": _objectives,
    "problems near solved ones": _nearby,
    "linear systems without cycles": _eliminations,
}


def warm_up(on_task: Callable[[str, float], None] | None = None) -> float:
    """Compile all kernels, for images, CI and services whose first answer must not wait.

    Compiled code is kept in a cache folder (`BISIMETRIC_CACHE_DIR`), so one call serves all later processes that use
    the same folder, on the same kind of processor, with the same versions of this package and of numba.

    Parameters
    ----------
    on_task : function of a text and a number, optional
        Called after every kind of problem, with its name and the seconds that compilation took for it.

    Returns
    -------
    float
        Seconds that compilation took; about 0 if everything was in the cache.

    Examples
    --------
    >>> import bisimetric as bm
    >>> seconds = bm.warm_up()  # doctest: +SKIP
    """
    function_or_none(on_task, "on_task")
    began = COMPILING.total
    for name, run in TASKS.items():
        before = COMPILING.total
        run()
        if on_task is not None:
            on_task(name, COMPILING.total - before)
    return COMPILING.total - began
