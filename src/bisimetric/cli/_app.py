"""The arguments of every command, and its help. A command returns what is to be done; `bisimetric.cli.main` does it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from bisimetric import __version__
from bisimetric._support.memory import require_space_for_libraries
from bisimetric.cli._help import (
    AGGREGATE_HELP,
    DISTANCE_HELP,
    EXAMPLES,
    EXIT_CODES,
    QUOTIENT_HELP,
    REPRODUCE_HELP,
    STATES_HELP,
)

Task = Callable[[], int]


app = typer.Typer(
    name="bisimetric",
    epilog=f"{EXAMPLES}\n\n{EXIT_CODES}",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bisimetric {__version__}")
        raise typer.Exit


@app.callback()
def bisimetric(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Certified optimal-transport distances and bisimulation metrics between Markov chains."""
    require_space_for_libraries()


@app.command(help=DISTANCE_HELP, short_help="The certified distance between two chains.", epilog=EXIT_CODES)
def distance(
    source: Annotated[str, typer.Argument(metavar="A", help="First chain: a built-in name or a file.")],
    target: Annotated[str, typer.Argument(metavar="B", help="Second chain.")],
    discount: Annotated[float, typer.Option(metavar="G", show_default=False, help="Discount factor γ, 0 ≤ γ < 1.")],
    cost: Annotated[
        str,
        typer.Option(
            metavar="COST",
            help="Cost between states: 'reward' (gap between rewards), 'labels' (1 where labels differ), "
            "or a file (.npy, .csv, .json) with one row per state of A and one column per state of B.",
        ),
    ] = "reward",
    start: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A0 B0", help="Start states, by index or name, instead of the chains' own."),
    ] = None,
    normalised: Annotated[
        bool,
        typer.Option("--normalised", help="Multiply by 1-γ: a weighted mean of costs instead of their sum."),
    ] = False,
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="Solver; `bisimetric solvers` lists them.")
    ] = "policy-iteration",
    tol: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="Gap to reach, max(upper - lower) over all pairs of states, relative to the largest upper bound; "
            "by default the solver's own, if it gets there.",
        ),
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", help="Steps of the solver at most; by default its own limit.")
    ] = None,
    as_json: AsJson = False,
    save: Annotated[str | None, typer.Option(metavar="FILE", help="Write the solution to FILE, .npz or .json.")] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the distances to FILE, .png, .svg or .pdf; needs matplotlib."),
    ] = None,
    fail_above: Annotated[
        float | None,
        typer.Option(metavar="X", help="Exit with 0, 1 or 3 as the distance is at most X, above, or undecided."),
    ] = None,
) -> Task:
    from bisimetric.cli._distance import Request, run

    request = Request(
        source, target, discount, cost, start, normalised, solver, tol, max_steps, as_json, save, plot, fail_above
    )
    return partial(run, request)


MODEL = "A built-in name or a chain file."
Model = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)]
Discount = Annotated[float, typer.Option(metavar="G", help="Discount factor γ, 0 ≤ γ < 1.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the small chain to FILE, .npz or .json.")
]
USUAL_DISCOUNT = 0.95


@app.command(help=STATES_HELP, short_help="Which states behave alike, which are close.")
def states(model: Model, discount: Discount = USUAL_DISCOUNT, as_json: AsJson = False) -> Task:
    from bisimetric.cli._bisimulation import run_states

    return partial(run_states, model, discount, as_json=as_json)


@app.command(help=QUOTIENT_HELP, short_help="The smallest chain that behaves the same.")
def quotient(model: Model, output: Output = None, as_json: AsJson = False) -> Task:
    from bisimetric.cli._bisimulation import run_quotient

    return partial(run_quotient, model, output, as_json=as_json)


@app.command(help=AGGREGATE_HELP, short_help="A smaller chain that behaves nearly the same.")
def aggregate(
    model: Model,
    epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="The largest distance inside a class, E ≥ 0.")
    ] = None,
    n_states: Annotated[int | None, typer.Option(metavar="N", help="States of the small chain.")] = None,
    discount: Discount = USUAL_DISCOUNT,
    output: Output = None,
    as_json: AsJson = False,
) -> Task:
    from bisimetric.cli._bisimulation import run_aggregate

    return partial(run_aggregate, model, epsilon, n_states, discount, output, as_json=as_json)


@app.command(help=REPRODUCE_HELP, short_help="The paper's experiments, again.")
def reproduce(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="One of those above.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes, seeds and rounds.")] = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder for the files; by default reproduction, or reproduction-quick."),
    ] = None,
    as_json: AsJson = False,
) -> Task:
    from bisimetric.cli._reproduce import run_reproduce

    return partial(run_reproduce, experiment, out, quick=quick, as_json=as_json)


@app.command()
def solvers(as_json: AsJson = False) -> Task:
    """List the solvers, with their tolerances and options.

    \b
    Examples:
      bisimetric solvers
      bisimetric solvers --json
    """
    from bisimetric.cli._listings import list_solvers

    return partial(list_solvers, as_json=as_json)


@app.command()
def environments(as_json: AsJson = False) -> Task:
    """List the built-in environments.

    \b
    Examples:
      bisimetric environments
      bisimetric distance grid-3x3 matching-four-rooms --discount 0.9
    """
    from bisimetric.cli._listings import list_environments

    return partial(list_environments, as_json=as_json)
