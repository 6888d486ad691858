"""Distances between many models: one certified number for every pair of them, between their starts.

Where the cost is symmetric, c_ij(x, y) = c_ji(y, x), so is the distance, and only one of (i, j) and (j, i) is solved;
where c_ii(x, x) = 0, equal models are at distance zero. Pairs are independent. Those of small chains are solved side by
side. Those with the most work come first, so that workers finish together, and a folder can keep every finished pair,
so that an interrupted run can continue. Between decision processes the distance is the one of `bisimulation_metric`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import PurePath
from typing import Any

import numpy.typing as npt

from bisimetric._support import memory
from bisimetric._support.options import flag, function_or_none, seconds_of
from bisimetric._support.threads import deadline
from bisimetric.cost.ground import Cost, cost_words, label_mismatch, reward_gap
from bisimetric.errors import (
    BisimetricError,
    InvalidOption,
    InvalidProblem,
    MissingStart,
    PairFailed,
    PairwiseInterrupted,
    ToleranceNotReached,
)
from bisimetric.many.backends import checked_n_jobs, chosen_backend
from bisimetric.many.chunks import portable
from bisimetric.many.question import PairQuestion
from bisimetric.many.store import PairStore
from bisimetric.many.table import Distances, TableQuestion
from bisimetric.many.table_run import PairDone, TableRun
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP, Model
from bisimetric.problems.discounted import checked_discount
from bisimetric.problems.game import Actions, Game
from bisimetric.readers.convert import as_model
from bisimetric.solvers import by_name
from bisimetric.solvers.base import AnySolver, checked_tol
from bisimetric.solvers.game_iteration import GameIteration
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.history import Status

BYTES_PER_TABLE_ENTRY = 32  # an entry of a table: three doubles and a status
BYTES_PER_CHAIN_PAIR = 1000  # a pair to solve: its places, its key, its record, and its numbers


def pairwise(
    chains: Iterable[Any],
    others: Iterable[Any] | None = None,
    *,
    discount: float,
    cost: npt.ArrayLike | Cost | None = None,
    normalised: bool = False,
    actions: Actions = "same",
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    n_jobs: int | None = None,
    backend: str | None = None,
    store: object = None,
    on_pair: Callable[[PairDone], None] | None = None,
) -> Distances:
    """Compute the certified distances between the starts of all models, or of `chains` and `others`.

    Equal pairs are solved once. Which model of a pair comes first in its solve depends only on the content of the two,
    so no bit of the result depends on the order of a list. Chains with at most 64 pairs of states are solved side by
    side with others, so their last digits, far inside the certified interval, depend on which others are in the lists.

    Parameters
    ----------
    chains, others : lists of N and M models
        Anything that `as_chain` takes, with a start. Without `others`, `chains` are compared with one another. Lists of
        decision processes (`MDP`, or files of some) are compared by `bisimulation_metric`, whose distance is
        normalised by 1 - γ; all models have to be of one kind, and `mdp.under(policy)` makes a chain.
    discount : float in [0, 1)
        γ, the weight of each step relative to the one before.
    cost : array, function or None
        An array [n, m] serves for every pair, so all chains of one list must have the same number of states. A function
        of two chains has no such limit; it is called in this process, for every entry of the table, before the first
        solve, and once more for those whose costs take too much memory to be kept. None is the gap between rewards.
    normalised : bool
        Multiply the cost by 1 - γ. Distances between decision processes always are.
    actions : "same" or "matched"
        How actions of decision processes meet, as for `bisimulation_metric`.
    solver : Solver or str, optional
        As for `solve`.
    tol : float, optional
        The relative gap of every pair. A pair that misses a given one is an error; None is the solver's default, and
        then `Distances.status` says which pairs missed it.
    time_limit : float, optional
        Seconds for the whole table. Pairs that are not finished by then have the status TIME_LIMIT and the interval
        that was proved, or NaN between 0 and the largest cost forever; they are not kept in the store. The table is
        there at most 0.1 s later, or a fifth of the limit if that is more; backends of joblib and Ray take longer by
        the start and the end of their own processes.
    throw : bool, default True
        Raise where a pair failed or missed `tol`, after all others are finished. With False the table tells: `status`
        and `failures`.
    n_jobs : int, optional
        The number of processes, -1 for one on every core, -2 for all cores but one. The numbers do not depend on it. By
        default 1, or what a surrounding `joblib.parallel_config` says; of Ray all processors.
    backend : str, optional
        Who solves the pairs. None: processes that belong to this call alone and end with it, or the backend of a
        surrounding `joblib.parallel_config`. "loky", "threading" or another backend of joblib. "ray": Ray on this
        machine, or the cluster that the program is connected to or RAY_ADDRESS names; "ray://host:port": the cluster at
        this address, "host:port" from one of its machines. Solver and models are sent to the processes. A pair whose
        process is lost is solved again.
    store : path, optional
        A folder that keeps every finished pair: the same call after an interrupt, an error, a crash or kill -9 goes on
        from there, with the same result, and calls with other chains or in another order use the pairs they share.
        Calls at the same time, also on several machines that share the folder, divide the work. Pairs computed by
        another version of this package, numpy, scipy or numba are not used. Other files in the folder are ignored. A
        folder that is removed during the run is made again, with all pairs finished by then. `compact_store` makes
        one file of many.
    on_pair : function of a `PairDone`, optional
        Called after every pair that was solved, but not for those found in the store.

    Returns
    -------
    Distances
        `value`, `lower`, `upper` and `status`, [N, N], or [N, M] with `others`.

    Raises
    ------
    ToleranceNotReached
        A pair missed the tolerance that was given: `error.pair` says which, `error.solution` is what it reached,
        `error.distances` has all pairs.
    PairFailed
        A pair has no answer, or its process was lost repeatedly; the message names the two models, and
        `error.distances` has all others.
    PairwiseInterrupted
        Ctrl-C; `error.distances` has what is finished.
    InvalidOption
        Among others, with several processes: the solver or a model cannot be pickled.
    MissingExtra, ClusterUnavailable
        The backend's package is missing, or no cluster answers at its address.
    FileFormatError
        The store cannot be read or written, or is something else.

    Examples
    --------
    >>> import bisimetric as bm
    >>> distances = bm.pairwise(["four-rooms:p0", "four-rooms:p1", "four-rooms:p2"], discount=0.95)
    >>> distances.value.round(4)
    array([[0.    , 0.4356, 0.5326],
           [0.4356, 0.    , 0.5146],
           [0.5326, 0.5146, 0.    ]])
    """
    with nullcontext() if time_limit is None else deadline(seconds_of(time_limit)):
        with _interrupts_before_pairs():
            checked_discount(discount)
            jobs = checked_n_jobs(n_jobs)
            function_or_none(on_pair, "on_pair")
            flag(throw, "throw")
            normal = flag(normalised, "normalised")
            sources, rows = read_models(chains, "chains")
            targets, columns = (sources, rows) if others is None else read_models(others, "others")
            of_mdps = _check_kinds(sources, targets)
            chosen = _chosen_solver(solver, of_mdps)
            checked_tol(tol, chosen)
            question = PairQuestion(discount, cost, normal or of_mdps, chosen, tol, actions if of_mdps else None)
            _check_question(question, sources, targets, symmetric=others is None, actions=actions)
            _check_table_memory(len(sources), len(targets), symmetric=others is None)
            workers = chosen_backend(backend, jobs, len(sources) * len(targets))
            if workers.sends:
                _check_portable(question, sources, targets)
            kept = None if store is None else PairStore(store)
        name = reward_gap.name if cost is None else cost_words(cost)[0]
        asked = TableQuestion(
            rows, columns, others is None, question.discount, name, question.normalised, chosen.name, tol
        )
        run = TableRun(question, asked, kept, on_pair)
        table = run.table(sources, targets, workers)
    if throw:
        _raise_failures(table, run.missed())
    return table


def _raise_failures(table: Distances, missed: ToleranceNotReached | None) -> None:
    """Raise if pairs failed, or missed a tolerance that was given."""
    if table.failures:
        first = table.failures[0]
        count = int((table.status == Status.FAILED).sum())
        message = f"{first}; {count} of {table.status.size} distances failed, error.distances has the others"
        raise PairFailed(message, first.pair, table) from first.__cause__
    if missed is not None:
        raise ToleranceNotReached(str(missed), missed.solution, missed.pair, distances=table)
    assert table.question is not None
    late = int((table.status == Status.TIME_LIMIT).sum())
    if late and table.question.tol is not None:
        message = f"{late} of {table.status.size} distances are not finished; raise time_limit, or take error.distances"
        raise ToleranceNotReached(message, distances=table)


@contextmanager
def _interrupts_before_pairs() -> Iterator[None]:
    """Turn Ctrl-C into an error that says that no pair is done yet."""
    try:
        yield
    except KeyboardInterrupt:
        raise PairwiseInterrupted("interrupted before the first pair", 0, 0) from None


# ------------------------------------------------------------------ what is asked


def read_models(given: Iterable[Any], name: str) -> tuple[list[Model], tuple[str, ...]]:
    """The models, and what they are called: the texts that were given, else "chain 1" or "other 1" and so on.

    Errors call the list by its `name`.
    """
    kind = name.removesuffix("s")
    if isinstance(given, Mapping):
        raise InvalidOption(
            f"{name} is a {type(given).__name__}, expected a list of models; list({name}.values()) is one"
        )
    if isinstance(given, (str, bytes, MarkovChain, MDP)) or not isinstance(given, Iterable):
        raise InvalidOption(f"{name} is a {type(given).__name__}, expected a list of chains, or of decision processes")
    models, called = [], []
    for k, item in enumerate(given):
        try:
            models.append(as_model(item, walk=True))
        except BisimetricError as error:
            raise type(error)(f"{name}[{k}]: {error}") from None
        if models[-1].start is None:
            raise MissingStart(f"{name}[{k}] has no start, between which distances are; with_start(state) gives it one")
        called.append(str(item) if isinstance(item, (str, PurePath)) else f"{kind} {k + 1}")
    if not models:
        raise InvalidOption(f"{name} is empty, expected a list of at least one chain")
    return models, tuple(called)


def _places(sources: Sequence[Model], targets: Sequence[Model]) -> Iterator[tuple[str, Model]]:
    """Every model with its place, as errors name it."""
    yield from ((f"chains[{k}]", model) for k, model in enumerate(sources))
    if targets is not sources:
        yield from ((f"others[{k}]", model) for k, model in enumerate(targets))


def _check_kinds(sources: Sequence[Model], targets: Sequence[Model]) -> bool:
    """Whether all models are decision processes; raises if only some are."""
    first = isinstance(sources[0], MDP)
    for place, model in _places(sources, targets):
        if isinstance(model, MDP) != first:
            kinds = ("a decision process", "a chain") if first else ("a chain", "a decision process")
            raise InvalidProblem(
                f"chains[0] is {kinds[0]} and {place} is {kinds[1]}, expected models of one kind; mdp.under(policy) "
                "makes a chain, as_mdp(chain) a decision process with one action"
            )
    return first


def _chosen_solver(solver: AnySolver | str | None, of_mdps: bool) -> AnySolver:
    default: AnySolver = GameIteration() if of_mdps else PolicyIteration()
    chosen = default if solver is None else by_name(solver)
    if chosen.operates_on is not default.operates_on:
        kind = "decision processes" if of_mdps else "chains"
        raise InvalidOption(f"{chosen.name} does not compare {kind}; leave solver=None")
    return chosen


def _check_question(
    question: PairQuestion, sources: Sequence[Model], targets: Sequence[Model], *, symmetric: bool, actions: str
) -> None:
    """Raise unless the question fits every model."""
    if question.actions is not None:
        if question.cost is not None:
            raise InvalidOption("cost is given, but decision processes are compared by their rewards; leave it out")
        _check_actions(question, sources, targets)
        return
    if actions != "same":
        raise InvalidOption(f"actions is {actions!r}, but chains have none; leave it out")
    needed = "labels" if question.cost is label_mismatch else "reward"
    for place, chain in _places(sources, targets):
        if question.cost_is_known and getattr(chain, needed) is None:
            raise InvalidProblem(f"{place} has no {needed}; give it {needed}=, or choose another cost")
    if question.cost is not None and not callable(question.cost):
        _check_sizes(question, sources, targets, symmetric=symmetric)


def _check_actions(question: PairQuestion, sources: Sequence[Model], targets: Sequence[Model]) -> None:
    """Raise unless the actions of every process meet those of the first."""
    first = sources[0]
    assert isinstance(first, MDP)
    for place, model in _places(sources, targets):
        assert isinstance(model, MDP)
        try:
            Game(first, model, discount=question.discount, actions=question.actions or "same")
        except InvalidProblem as error:
            raise InvalidProblem(f"chains[0] (the source) and {place} (the target): {error}") from None


def _check_table_memory(rows: int, columns: int, *, symmetric: bool) -> None:
    count = rows * columns
    memory.require(
        BYTES_PER_TABLE_ENTRY * count + BYTES_PER_CHAIN_PAIR * (count // 2 if symmetric else count),
        f"a table of {rows} x {columns} chains",
        "compare fewer at a time; a store shares what they have in common",
    )


def _check_portable(question: PairQuestion, sources: Sequence[Model], targets: Sequence[Model]) -> None:
    """Raise unless the solver and the models can be sent to workers; a cost function stays in this process."""
    portable(question.solver, "solver")
    for place, model in _places(sources, targets):
        portable(model, place)


def _check_sizes(
    question: PairQuestion, sources: Sequence[Model], targets: Sequence[Model], *, symmetric: bool
) -> None:
    """Raise unless an array of costs fits every pair."""
    question.pair_problem(sources[0], targets[0])  # checks the array
    shape = sources[0].n_states, targets[0].n_states
    for chains, name, size in ((sources, "chains", shape[0]), (targets, "chains" if symmetric else "others", shape[1])):
        for k, chain in enumerate(chains):
            if chain.n_states != size:
                raise InvalidProblem(
                    f"cost has shape {shape} and serves for every pair, but {name}[{k}] has {chain.n_states} states; "
                    "give a function of two chains instead, which returns an array of their shape"
                )
