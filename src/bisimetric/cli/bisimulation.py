"""`bisimetric states`, `quotient` and `aggregate`: read a model, reduce it, save and print the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from bisimetric import cost
from bisimetric._support.text import discount_text, printable, rounded_up
from bisimetric.bisimulation.aggregation import Aggregation, MDPAggregation, aggregate
from bisimetric.bisimulation.metric import bisimulation_metric
from bisimetric.bisimulation.quotient import quotient
from bisimetric.cli.messages import ExitCode, is_quiet, note, tell
from bisimetric.cli.models import MODEL_ENDINGS, Reading, transition_count, write_model
from bisimetric.cli.outcome import TOP, PairDistance, distances_table, gap_words, pair_at
from bisimetric.cli.output import (
    STDOUT,
    Meter,
    Row,
    check_output,
    check_picture,
    check_report,
    check_stdout,
    columns_table,
    facts_table,
    print_json,
    show,
    shown_model,
)
from bisimetric.cli.progress import Progress
from bisimetric.errors import InvalidOption, InvalidProblem, NotEnoughMemory
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.partition import Classes
from bisimetric.models.rows import Ints
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.problems.game import Actions
from bisimetric.solving.game_solution import AnySolution
from bisimetric.solving.history import Status
from bisimetric.solving.solve import solve

MEMBERS_SHOWN = 6  # states of a class that are listed


@dataclass(frozen=True, slots=True)
class ReductionRequest(Reading):
    """The options that the three commands share."""

    model: str
    as_json: bool


def run_states(request: ReductionRequest, actions: Actions, discount: float, time_limit: float | None) -> int:
    """Print the classes of bisimilar states, and which classes are closest and farthest."""
    checked_discount(discount)  # before the work begins
    meter = Meter()
    with Progress() as progress:
        model = _read(request, progress)
        progress.doing("refining")
        small, classes = quotient(model, actions=actions)
        progress.doing("solving")
        solution = _distances(small, actions, discount, time_limit)
        expense = meter.read()
    late = solution is not None and solution.status is Status.TIME_LIMIT
    code = ExitCode.UNDECIDED if late else ExitCode.SUCCESS
    closest, farthest = _extremes(solution)
    if request.as_json:
        document = {
            **_reduction(request.model, model, small, classes),
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
        return code
    meaning = f"distances times 1-γ; γ = {discount_text(discount)}"
    facts = [*_size_facts(request.model, model, small), ("meaning", meaning), ("cost", _cost_name(small))]
    if solution is not None:
        facts.append(("relative gap", gap_words(solution)))
    _show_reduction([*facts, *expense.facts()], model, small, classes)
    for title, pairs in (("Closest", closest), ("Farthest", farthest)):
        if pairs and not is_quiet():
            show(
                Text(f"\n{title} classes, by their first states", style="bold"),
                distances_table(pairs, ("state", "and")),
            )
    return code


def run_quotient(request: ReductionRequest, actions: Actions, out: str | None) -> int:
    """Make the smallest model that behaves like a given one."""
    _check_out(request, out)
    meter = Meter()
    with Progress() as progress:
        model = _read(request, progress)
        progress.doing("refining")
        small, classes = quotient(model, actions=actions)
        _save(small, out, progress)
        expense = meter.read()
    if out == STDOUT:
        write_model(small, out)
    elif request.as_json:
        print_json({**_reduction(request.model, model, small, classes), "output": out, **expense.document()})
    else:
        _show_reduction([*_size_facts(request.model, model, small), *expense.facts()], model, small, classes)
    return ExitCode.SUCCESS


@dataclass(frozen=True, slots=True)
class AggregateRequest(ReductionRequest):
    """The options of `aggregate`."""

    epsilon: float | None
    n_states: int | None
    discount: float
    out: str | None
    plot: str | None
    report: str | None
    command_line: str


def run_aggregate(request: AggregateRequest) -> int:
    """Make a smaller model that behaves nearly like a given one."""
    epsilon, n_states, discount, out = request.epsilon, request.n_states, request.discount, request.out
    _check_out(request, out)
    check_picture(request.plot, "--plot")
    check_report(request.report, "--report")
    if (epsilon is None) == (n_states is None):
        raise InvalidOption("expected one of --epsilon and --n-states: how close, or how many")
    meter = Meter()
    with Progress() as progress:
        model = _read(request, progress)
        progress.doing("clustering")
        found = aggregate(model, epsilon=epsilon, n_states=n_states, discount=discount)
        _save(found.model, out, progress)
        if request.plot is not None:
            progress.doing("drawing")
            _draw(found, request.plot)
            note(f"the picture is in {request.plot}")
        if request.report is not None:
            progress.doing("writing the report")
            found.report(request.report, names=request.model, command=request.command_line)
            note(f"the report is in {request.report}")
        expense = meter.read()
    if out == STDOUT:
        write_model(found.model, out)
        return ExitCode.SUCCESS
    loss = found.policy_loss if isinstance(found, MDPAggregation) else None
    if request.as_json:
        document = {
            **_reduction(request.model, model, found.model, found.map),
            "discount": discount,
            "distance_bound": found.distance_bound,
            "value_bound": found.value_bound,
            "policy_loss": loss,
            "output": out,
            **expense.document(),
        }
        print_json(document)
        return ExitCode.SUCCESS
    facts = [
        *_size_facts(request.model, model, found.model),
        ("distance", f"at most {rounded_up(found.distance_bound)} between a state and its class, times 1-γ"),
        ("values", f"differ by at most {rounded_up(found.value_bound)} (discounted sums of rewards)"),
        ("discount", f"γ = {discount_text(discount)}"),
    ]
    if loss is not None:
        facts.append(("policy", f"that of the small model loses at most {rounded_up(loss)} in the given one"))
    _show_reduction([*facts, *expense.facts()], model, found.model, found.map)
    return ExitCode.SUCCESS


def _draw(found: Aggregation[Any], path: str) -> None:
    from bisimetric import plot

    plot.save(found.plot(), path)


def _check_out(request: ReductionRequest, out: str | None) -> None:
    check_stdout(out, as_json=request.as_json)
    check_output(None if out == STDOUT else out, "--out", MODEL_ENDINGS)


def _read(request: ReductionRequest, progress: Progress) -> MarkovChain | MDP:
    progress.doing("reading")
    return request.models([request.model])[0]


def _distances(
    small: MarkovChain | MDP, actions: Actions, discount: float, time_limit: float | None
) -> AnySolution | None:
    """The distances between classes; None if there is too little memory for them, or states have other actions."""
    try:
        if isinstance(small, MDP):
            return bisimulation_metric(small, discount=discount, actions=actions, time_limit=time_limit)
        ground = cost.label_mismatch if small.reward is None else cost.reward_gap
        problem = Problem(small, small, discount=discount, cost=ground, normalised=True)
        return solve(problem, time_limit=time_limit)
    except (NotEnoughMemory, InvalidProblem) as error:  # the classes are known without them
        if isinstance(small, MarkovChain) and isinstance(error, InvalidProblem):
            raise
        tell(f"no distances: {error}")
        return None


def _cost_name(small: MarkovChain | MDP) -> str:
    return "labels" if isinstance(small, MarkovChain) and small.reward is None else "reward"


def _extremes(solution: AnySolution | None) -> tuple[tuple[PairDistance, ...], tuple[PairDistance, ...]]:
    """The closest and the farthest pairs x < y."""
    if solution is None:
        return (), ()
    n = len(solution.value)
    places = np.flatnonzero(np.triu(np.ones((n, n), np.bool_), 1))
    values = solution.value.ravel()[places]
    order = np.lexsort((places, values))
    near = tuple(pair_at(solution, int(place)) for place in places[order[:TOP]])
    far = tuple(pair_at(solution, int(place)) for place in places[np.lexsort((places, -values))[:TOP]])
    return near, far


def _save(small: MarkovChain | MDP, out: str | None, progress: Progress) -> None:
    if out is not None and out != STDOUT:  # stdout comes after the progress
        progress.doing("saving")
        write_model(small, out)
        note(f"the {'chain' if isinstance(small, MarkovChain) else 'decision process'} is in {out}")


def _reduction(text: str, model: MarkovChain | MDP, small: MarkovChain | MDP, classes: Classes) -> dict[str, Any]:
    return {
        "model": text,
        "states": model.n_states,
        "transitions": transition_count(model),
        "classes": small.n_states,
        "class_transitions": transition_count(small),
        "class_names": [small.name_of(k) for k in range(small.n_states)],
        "map": classes.tolist(),
    }


def _size_facts(text: str, model: MarkovChain | MDP, small: MarkovChain | MDP) -> Iterator[tuple[str, str]]:
    if isinstance(model, MarkovChain):
        yield "chain", shown_model(text)
    else:
        yield "process", f"{shown_model(text)}, {model.n_actions} actions"
    yield "states", f"{model.n_states}, {transition_count(model)} transitions"
    yield "classes", f"{small.n_states}, {transition_count(small)} transitions"


def _show_reduction(facts: Sequence[Row], model: MarkovChain | MDP, small: MarkovChain | MDP, classes: Classes) -> None:
    """Print the facts and the largest classes with more than one state; with `--quiet`, how many classes there are."""
    if is_quiet():
        show(Text(str(small.n_states)))
        return
    sizes = np.bincount(classes)
    largest = np.argsort(-sizes, kind="stable")[:TOP]
    table = columns_table()
    table.add_column("class", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("states", overflow="fold")
    for k in largest[sizes[largest] > 1].tolist():
        table.add_row(printable(small.name_of(k)), str(sizes[k]), _members(model, np.flatnonzero(classes == k)))
    parts: list[RenderableType] = [Text("\nLargest classes", style="bold"), table]
    show(facts_table(facts, bold="classes"))
    show(*parts if table.row_count else [Text("\nno two states are in one class", style="bold")])


def _members(model: MarkovChain | MDP, states: Ints) -> str:
    shown = ", ".join(printable(model.name_of(int(state))) for state in states[:MEMBERS_SHOWN])
    return shown if len(states) <= MEMBERS_SHOWN else f"{shown}, …"
