"""`bisimetric states`, `quotient` and `aggregate`: read, reduce, save, tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric import cost
from bisimetric._support.text import discount_text, printable
from bisimetric.bisimulation.aggregation import aggregate
from bisimetric.bisimulation.quotient import quotient
from bisimetric.cli._console import print_json, show
from bisimetric.cli._document import finite
from bisimetric.cli._outcome import TOP, Expense, Meter, PairDistance, pair_at
from bisimetric.cli._output import check_output
from bisimetric.cli._progress import Progress
from bisimetric.cli._report import expense_facts, facts_grid, gap_words, pair_digits, pairs_table
from bisimetric.cli._text import complain
from bisimetric.cli._verdict import ExitCode
from bisimetric.errors import InvalidOption, NotEnoughMemory
from bisimetric.models.chain import MarkovChain
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.readers.convert import as_chain
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

MEMBERS_SHOWN = 6  # of a class

Classes = npt.NDArray[np.int64]


def run_states(model: str, discount: float, *, as_json: bool) -> int:
    """Classes of bisimilar states, and which classes are closest and farthest."""
    checked_discount(discount)
    meter = Meter()
    with Progress() as progress:
        progress.doing("reading")
        chain = as_chain(model)
        Problem(
            MarkovChain([[1.0]], reward=[0]), MarkovChain([[1.0]], reward=[0]), discount=discount
        )  # refused at once
        progress.doing("refining")
        small, classes = quotient(chain)
        progress.doing("solving")
        solution = _distances(small, discount, progress)
        expense = meter.read()
    closest, farthest = ((), ()) if solution is None else _extremes(solution)
    if as_json:
        document = {
            **_reduction(model, chain, small, classes),
            "discount": discount,
            "cost": _cost_name(small),
            "relative_gap": None if solution is None else solution.relative_gap,
            "status": None if solution is None else solution.status.name,
            "tol": None if solution is None else solution.tol,
            "tol_reached": None if solution is None else solution.reached_tol,
            "closest": None if solution is None else [asdict(pair) for pair in closest],
            "farthest": None if solution is None else [asdict(pair) for pair in farthest],
            **_expense(expense),
        }
        print_json(finite(document))
        return ExitCode.FINE
    facts = [*_size_facts(model, chain, small), ("meaning", f"distances times 1-γ; γ = {discount_text(discount)}")]
    facts.append(("cost", _cost_name(small)))
    if solution is not None:
        facts.append(("relative gap", gap_words(solution)))
    show(facts_grid([*facts, *expense_facts(expense)], bold="classes"))
    _show_classes(chain, small, classes)
    for title, pairs in (("Closest", closest), ("Farthest", farthest)):
        if pairs:
            show(Text(f"\n{title} classes, by their first states", style="bold"), _distance_table(pairs))
    return ExitCode.FINE


def run_quotient(model: str, output: str | None, *, as_json: bool) -> int:
    """The smallest chain that behaves like a given one."""
    check_output(output, "-o")
    meter = Meter()
    with Progress() as progress:
        progress.doing("reading")
        chain = as_chain(model)
        progress.doing("refining")
        small, classes = quotient(chain)
        _save(small, output, progress)
        expense = meter.read()
    if as_json:
        print_json(finite({**_reduction(model, chain, small, classes), "output": output, **_expense(expense)}))
    else:
        show(facts_grid([*_size_facts(model, chain, small), *expense_facts(expense)], bold="classes"))
        _show_classes(chain, small, classes)
    return ExitCode.FINE


def run_aggregate(
    model: str, epsilon: float | None, n_states: int | None, discount: float, output: str | None, *, as_json: bool
) -> int:
    """A smaller chain that behaves nearly like a given one."""
    check_output(output, "-o")
    if (epsilon is None) == (n_states is None):
        raise InvalidOption("expected one of --epsilon and --n-states: how close, or how many")
    meter = Meter()
    with Progress() as progress:
        progress.doing("reading")
        chain = as_chain(model)
        progress.doing("clustering")
        found = aggregate(chain, epsilon=epsilon, n_states=n_states, discount=discount)
        _save(found.model, output, progress)
        expense = meter.read()
    if as_json:
        document = {
            **_reduction(model, chain, found.model, found.map),
            "discount": discount,
            "distance_bound": found.distance_bound,
            "value_bound": found.value_bound,
            "output": output,
            **_expense(expense),
        }
        print_json(finite(document))
        return ExitCode.FINE
    facts = [
        *_size_facts(model, chain, found.model),
        ("distance", f"at most {_rounded_up(found.distance_bound)} between a state and its class, times 1-γ"),
        ("values", f"differ by at most {_rounded_up(found.value_bound)} (discounted sums of rewards)"),
        ("discount", f"γ = {discount_text(discount)}"),
    ]
    show(facts_grid([*facts, *expense_facts(expense)], bold="classes"))
    _show_classes(chain, found.model, found.map)
    return ExitCode.FINE


def _distances(small: MarkovChain, discount: float, progress: Progress) -> Solution | None:
    """Between classes; None if there are too many of them."""
    ground = cost.label_mismatch if small.reward is None else cost.reward_gap
    try:
        problem = Problem(small, small, discount=discount, cost=ground, normalised=True)
        return solve(problem, on_step=progress.on_step)
    except NotEnoughMemory as error:  # the classes themselves are there and are worth telling
        complain(f"no distances: {error}")
        return None


def _cost_name(small: MarkovChain) -> str:
    return "labels" if small.reward is None else "reward"


def _extremes(solution: Solution) -> tuple[tuple[PairDistance, ...], tuple[PairDistance, ...]]:
    """The closest and the farthest of the pairs x < y."""
    n = solution.problem.shape[0]
    places = np.flatnonzero(np.triu(np.ones((n, n), np.bool_), 1))
    values = solution.value.ravel()[places]
    order = np.lexsort((places, values))
    near = tuple(pair_at(solution, int(place)) for place in places[order[:TOP]])
    far = tuple(pair_at(solution, int(place)) for place in places[np.lexsort((places, -values))[:TOP]])
    return near, far


def _save(small: MarkovChain, output: str | None, progress: Progress) -> None:
    if output is not None:
        progress.doing("saving")
        small.save(output)
        complain(f"the chain is in {output}")


def _reduction(model: str, chain: MarkovChain, small: MarkovChain, classes: Classes) -> dict[str, Any]:
    return {
        "model": model,
        "states": chain.n_states,
        "transitions": int(chain.transitions.nnz),
        "classes": small.n_states,
        "class_transitions": int(small.transitions.nnz),
        "class_names": [small.name_of(k) for k in range(small.n_states)],
        "map": classes.tolist(),
    }


def _expense(expense: Expense) -> dict[str, Any]:
    return {"seconds": {"cpu": expense.cpu, "wall": expense.wall}, "memory_bytes": expense.memory}


def _size_facts(model: str, chain: MarkovChain, small: MarkovChain) -> Iterator[tuple[str, str]]:
    yield "chain", printable(model)
    yield "states", f"{chain.n_states}, {chain.transitions.nnz} transitions"
    yield "classes", f"{small.n_states}, {small.transitions.nnz} transitions"


def _show_classes(chain: MarkovChain, small: MarkovChain, classes: Classes) -> None:
    """The largest classes with more than one state."""
    sizes = np.bincount(classes)
    largest = np.argsort(-sizes, kind="stable")[:TOP]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("class", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("states", overflow="fold")
    for k in largest[sizes[largest] > 1].tolist():
        table.add_row(printable(small.name_of(k)), str(sizes[k]), _members(chain, np.flatnonzero(classes == k)))
    parts: list[RenderableType] = [Text("\nLargest classes", style="bold"), table]
    show(*parts if table.row_count else [Text("\nno two states are in one class", style="bold")])


def _members(chain: MarkovChain, states: npt.NDArray[np.int64]) -> str:
    shown = ", ".join(printable(chain.name_of(int(state))) for state in states[:MEMBERS_SHOWN])
    return shown if len(states) <= MEMBERS_SHOWN else f"{shown}, …"


def _distance_table(pairs: tuple[PairDistance, ...]) -> Table:
    table = pairs_table("distance", names=("state", "and"))
    for pair in pairs:
        table.add_row(printable(pair.source), printable(pair.target), pair_digits(pair).value)
    return table


def _rounded_up(bound: float) -> str:
    """Six digits, not less than the bound."""
    shown = f"{bound:.6g}"
    return shown if float(shown) >= bound else f"{bound * (1 + 1e-5):.6g}"
