"""The arguments of every command, and its help. A command returns what is to be done; `bisimetric.cli.main` does it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from bisimetric._version import __version__

Task = Callable[[], int]

EXIT_CODES = """\b
Exit codes:
  0    fine
  1    the distance is above the limit of --fail-above
  2    bad input or usage
  3    undecided: the interval straddles the limit of --fail-above; or
       without --fail-above, --tol was not reached
  130  interrupted; the interval reached so far is on stderr"""

EXAMPLES = """\b
Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance mine.json theirs.json --discount 0.9 --json
  bisimetric states four-rooms:side=20,goal=all
  bisimetric quotient mine.json -o small.json
  bisimetric aggregate mine.json --epsilon 0.05 -o small.json
  bisimetric environments
  bisimetric solvers
  bisimetric reproduce all --quick"""

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


DISTANCE_HELP = """Print the certified distance between two chains, and where it comes from.

A and B are built-in environments (`bisimetric environments` lists them) or chain files, .json or .npz. Every answer
is an interval that provably holds the true distance. Chains without a start give a summary of the distances between
all their states.

\b
Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance a.json b.json --discount 0.9 --start idle 0
  bisimetric distance a.json b.json --discount 0.9 --cost cost.csv --json
  bisimetric distance old.npz new.npz --discount 0.99 --normalised \\
      --fail-above 0.05
  bisimetric distance grid-3x3 matching-four-rooms --discount 0.95 \\
      --plot rooms.png

\b
A chain file in JSON (all but transitions may be left out):
  {"transitions": [[0.5, 0.5], [0, 1]], "reward": [0, 1], "start": 0,
   "names": ["idle", "busy"], "labels": ["a", "b"]}

\b
Keys of --json, null where there is no such thing:
  distance, lower, upper    between the starts
  gap, relative_gap         max(upper - lower) over all pairs of states, and
                            that divided by the largest upper bound
  source, target, states    as given, and [n, m]
  discount, normalised
  solver, status, message   status SOLVED, COMPLETED, STEP_LIMIT or STALLED
  steps, history            history: [{step, gap, seconds}]
  seconds, memory_bytes     {cpu, wall} from reading the input; peak memory
  explain                   the pairs of states with the largest amounts:
                            [{source, target, occupancy, cost, amount, share}]
  explain_rest              amount of all pairs that are not listed
  summary                   without starts: {n_pairs, zero_pairs, smallest,
                            median, largest, closest}; a pair of states is
                            {source, target, distance, lower, upper}
  limit                     with --fail-above: {fail_above, verdict}, verdict
                            within, above or undecided
"""


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

REDUCTION_KEYS = """\b
Keys of --json:
  model, states, transitions           as given, and how many
  classes, class_transitions           of the small chain
  class_names                          the name of each class: its first state
  map                                  the class of every state
  seconds, memory_bytes                {cpu, wall}; peak memory"""

STATES_HELP = f"""Print which states of a chain behave alike, and which are closest and farthest.

States are bisimilar if they agree in reward and label and move alike into every class of such states, up to 1e-12 in
every probability. Distances are those of the bisimulation metric: differences of rewards (of labels, if there are no
rewards), discounted and multiplied by 1-γ, under the best coupling. So classes that differ in labels alone are at
distance zero if there are rewards.

\b
Examples:
  bisimetric states four-rooms:side=20,goal=all
  bisimetric states mine.json --discount 0.99 --json

{REDUCTION_KEYS}
  discount, cost                       cost: reward or labels
  relative_gap, status                 of the distances between classes
  closest, farthest                    [{{source, target, distance, lower,
                                       upper}}], null if there are too many
                                       classes to compute them
"""


@app.command(help=STATES_HELP, short_help="Which states behave alike, which are close.")
def states(model: Model, discount: Discount = USUAL_DISCOUNT, as_json: AsJson = False) -> Task:
    from bisimetric.cli._bisimulation import run_states

    return partial(run_states, model, discount, as_json=as_json)


QUOTIENT_HELP = f"""Make the smallest chain that behaves like a given one: a state for every class of bisimilar states.

A class has the reward, the label and the name of its first state. Distances from and to the small chain are those of
the given one.

\b
Examples:
  bisimetric quotient mine.json -o small.json
  bisimetric quotient four-rooms:side=100,goal=all -o small.npz --json

{REDUCTION_KEYS}
  output                               the file written, or null
"""


@app.command(help=QUOTIENT_HELP, short_help="The smallest chain that behaves the same.")
def quotient(model: Model, output: Output = None, as_json: AsJson = False) -> Task:
    from bisimetric.cli._bisimulation import run_quotient

    return partial(run_quotient, model, output, as_json=as_json)


AGGREGATE_HELP = f"""Make a smaller chain that behaves nearly like a given one, with certified bounds.

States are merged if they are within --epsilon of one another in the bisimulation metric (differences of rewards,
discounted and multiplied by 1-γ), or until --n-states are left; give one of the two. The bounds hold for every state s
and its class: on their distance, and on the difference of their values, which are discounted sums of rewards.

\b
Examples:
  bisimetric aggregate mine.json --epsilon 0.05 -o small.json
  bisimetric aggregate four-rooms:side=20 --n-states 50 --discount 0.9

{REDUCTION_KEYS}
  discount
  distance_bound, value_bound          see above
  output                               the file written, or null
"""


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


REPRODUCE_HELP = """Run an experiment of the paper (Calo et al. 2024) again, with exact distances to compare with.

EXPERIMENT is one of

\b
  role-of-m      estimates against rounds, for several m
  heat-map       3×3 grid against 4-rooms: the symmetries of the distance
  eta            error against rounds, for several step sizes
  running-time   CPU time against n and γ: the paper's settings, and tuned
  instances      35 4-rooms, all pairs, MDS: clusters by way to the reward
  all            all five

Each writes DIR/EXPERIMENT.json (settings, seeds, versions, all numbers) and DIR/EXPERIMENT.png, drawn from that file;
running-time also running-time-tuned.png, and instances keeps finished pairs in DIR/instances-store, from which it goes
on when it was interrupted. Pictures need matplotlib, instances also scikit-learn: pip install 'bisimetric[plot,ml]'.
heat-map and instances take seconds and are never cut short. --quick takes two minutes for all five, the full runs about
half an hour, nearly all of it for running-time.

\b
Examples:
  bisimetric reproduce heat-map
  bisimetric reproduce all --quick --out quick --json

\b
Keys of --json, one object for each experiment:
  experiment, quick, config, versions
  seconds                   {cpu, wall}
  files                     the record and the pictures
  summary                   the key numbers
"""


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
