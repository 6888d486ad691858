"""`bisimetric states`, `quotient` and `aggregate`: read a chain, reduce it, save and print the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import RenderableType
from rich.text import Text

from bisimetric import cost
from bisimetric._support.text import discount_text, printable
from bisimetric.bisimulation.aggregation import aggregate
from bisimetric.bisimulation.quotient import quotient
from bisimetric.cli.messages import ExitCode, tell
from bisimetric.cli.outcome import TOP, PairDistance, distances_table, gap_words, pair_at
from bisimetric.cli.output import Meter, check_output, columns_table, facts_table, print_json, show
from bisimetric.cli.progress import Progress
from bisimetric.errors import InvalidOption, NotEnoughMemory
from bisimetric.models.chain import MarkovChain
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.readers.convert import as_chain
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

MEMBERS_SHOWN = 6  # states of a class that are listed

Classes = npt.NDArray[np.int64]


def run_states(model: str, discount: float, time_limit: float | None, *, as_json: bool) -> int:
    """Print the classes of bisimilar states, and which classes are closest and farthest."""
    checked_discount(discount)  # before the work begins
    meter = Meter()
    with Progress() as progress:
        progress.doing("reading")
        chain = as_chain(model)
        progress.doing("refining")
        small, classes = quotient(chain)
        progress.doing("solving")
        solution = _distances(small, discount, time_limit, progress)
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
            **expense.document(),
        }
        print_json(document)
        return ExitCode.SUCCESS
    facts = [*_size_facts(model, chain, small), ("meaning", f"distances times 1-γ; γ = {discount_text(discount)}")]
    facts.append(("cost", _cost_name(small)))
    if solution is not None:
        facts.append(("relative gap", gap_words(solution)))
    show(facts_table([*facts, *expense.facts()], bold="classes"))
    _show_classes(chain, small, classes)
    for title, pairs in (("Closest", closest), ("Farthest", farthest)):
        if pairs:
            show(
                Text(f"\n{title} classes, by their first states", style="bold"),
                distances_table(pairs, ("state", "and")),
            )
    return ExitCode.SUCCESS


def run_quotient(model: str, output: str | None, *, as_json: bool) -> int:
    """Make the smallest chain that behaves like a given one."""
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
        print_json({**_reduction(model, chain, small, classes), "output": output, **expense.document()})
    else:
        show(facts_table([*_size_facts(model, chain, small), *expense.facts()], bold="classes"))
        _show_classes(chain, small, classes)
    return ExitCode.SUCCESS


def run_aggregate(
    model: str, epsilon: float | None, n_states: int | None, discount: float, output: str | None, *, as_json: bool
) -> int:
    """Make a smaller chain that behaves nearly like a given one."""
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
            **expense.document(),
        }
        print_json(document)
        return ExitCode.SUCCESS
    facts = [
        *_size_facts(model, chain, found.model),
        ("distance", f"at most {_rounded_up(found.distance_bound)} between a state and its class, times 1-γ"),
        ("values", f"differ by at most {_rounded_up(found.value_bound)} (discounted sums of rewards)"),
        ("discount", f"γ = {discount_text(discount)}"),
    ]
    show(facts_table([*facts, *expense.facts()], bold="classes"))
    _show_classes(chain, found.model, found.map)
    return ExitCode.SUCCESS


def _distances(small: MarkovChain, discount: float, time_limit: float | None, progress: Progress) -> Solution | None:
    """The distances between classes; None if there is too little memory for them."""
    ground = cost.label_mismatch if small.reward is None else cost.reward_gap
    try:
        problem = Problem(small, small, discount=discount, cost=ground, normalised=True)
        return solve(problem, time_limit=time_limit, on_step=progress.on_step)
    except NotEnoughMemory as error:  # the classes are known without them
        tell(f"no distances: {error}")
        return None


def _cost_name(small: MarkovChain) -> str:
    return "labels" if small.reward is None else "reward"


def _extremes(solution: Solution) -> tuple[tuple[PairDistance, ...], tuple[PairDistance, ...]]:
    """The closest and the farthest pairs x < y."""
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
        tell(f"the chain is in {output}")


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


def _size_facts(model: str, chain: MarkovChain, small: MarkovChain) -> Iterator[tuple[str, str]]:
    yield "chain", printable(model)
    yield "states", f"{chain.n_states}, {chain.transitions.nnz} transitions"
    yield "classes", f"{small.n_states}, {small.transitions.nnz} transitions"


def _show_classes(chain: MarkovChain, small: MarkovChain, classes: Classes) -> None:
    """Print the largest classes with more than one state."""
    sizes = np.bincount(classes)
    largest = np.argsort(-sizes, kind="stable")[:TOP]
    table = columns_table()
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


def _rounded_up(bound: float) -> str:
    """The bound with six digits, rounded up."""
    shown = f"{bound:.6g}"
    return shown if float(shown) >= bound else f"{bound * (1 + 1e-5):.6g}"
