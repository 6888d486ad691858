"""`bisimetric distance` on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bisimetric.cli.arguments import (
    DISCOUNT_HELP,
    MODEL_HELP,
    Command,
    add_answer,
    add_cost,
    add_policy,
    add_reading,
    add_solving,
    add_start,
)
from bisimetric.cli.messages import EXIT_CODES
from bisimetric.errors import InvalidOption

ANSWER_KEYS = """\
Keys of --json, null where a value does not exist:
  distance, lower, upper    between the starts
  gap, relative_gap         max(upper - lower) over all pairs of states, and
                            that divided by the largest upper bound
  tol, tol_reached          the relative gap to reach, and whether it is met
  source, target, states    as given, and [n, m]
  kind, cost                distance, average, horizon, bisimilarity or
                            metric; the cost as given
  discount, normalised
  horizon                   with --horizon: the number of steps
  stationary_distance,      with --average: from the best pair of states,
  stationary_interval       whatever the starts
  solver, status, message   status SOLVED, COMPLETED, STEP_LIMIT, TIME_LIMIT
                            or STALLED
  steps, history            history: [{step, gap, seconds}], and what looks add
  seconds, memory_bytes     {cpu, wall} from reading the input; peak memory
  explain                   null after --time-limit; otherwise the pairs of
                            states with the largest amounts:
                            [{source, target, occupancy, cost, amount, share}]
                            with cost as given and amount = occupancy · cost,
                            divided by 1-γ if not normalised; with --horizon
                            not divided, and cost the mean of what is paid
  explain_rest              amount of all pairs that are not listed
  explain_path              the most likely way to part: {moments, parting,
                            probability, amount, share, difference}; moments
                            [{states, source, target, probability, cost,
                            distance}], parting the index of the first pair
                            with a cost, or null
  summary                   without starts: {n_pairs, zero_pairs, smallest,
                            median, largest, closest, farthest}; a pair of
                            states is {source, target, distance, lower, upper}
  match                     with --match: {pairs, total, unmatched}; pairs is
                            [{source, target, distance, time}], unmatched the
                            states of A and of B that are left over
  limit                     with --fail-above: {fail_above, verdict}; verdict
                            is within, above or undecided"""

DISTANCE_HELP = f"""\
Print the certified distance between two chains, and where it comes from.

A and B are built-in environments (`bisimetric environments` lists them),
gym:ID, or files: .json, .npz, .csv, .npy, .prism, .jani, .drn, .tra. Options
follow after commas: brp.prism,N=16 or gym:FrozenLake-v1,is_slippery=false.

The answer is an interval that provably contains the true distance. If a
chain has no start, a summary of the distances between all states is printed
instead.

Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance a.json b.json --discount 0.9 --start idle 0
  bisimetric distance a.json b.json --discount 0.9 --cost cost.csv --json
  bisimetric distance a.json b.json --horizon 20
  bisimetric distance a.json b.json --average
  bisimetric distance a.json b.json --bisimilarity --match
  bisimetric distance brp.prism,N=16 brp.prism,N=32 --const MAX=2 \\
      --bisimilarity
  bisimetric distance die.prism fair.json --bisimilarity --label-changes
  bisimetric distance old.npz new.npz --discount 0.99 --normalised \\
      --fail-above 0.05 --time-limit 60
  bisimetric distance grid-3x3 matching-four-rooms --discount 0.95 \\
      --plot rooms.png --report rooms.html
  bisimetric distance grid-3x3 open-grid:3 --discount 0.9 \\
      --solver sinkhorn-value-iteration --set rounds=750 --set step_size=1

A chain file in JSON (all but transitions may be left out):
  {{"transitions": [[0.5, 0.5], [0, 1]], "reward": [0, 1], "start": 0,
   "names": ["idle", "busy"], "labels": ["a", "b"]}}

{ANSWER_KEYS}"""


def _add_arguments(command: ArgumentParser) -> None:
    add = command.add_argument
    add("source", metavar="A", help=f"First chain. {MODEL_HELP}")
    add("target", metavar="B", help="Second chain.")
    add(
        "--discount",
        type=float,
        metavar="G",
        help=f"{DISCOUNT_HELP}; required. With --bisimilarity or --horizon γ ≤ 1, and 1 by default.",
    )
    add_cost(command)
    add(
        "--bisimilarity",
        action="store_true",
        help="The distance of the verification literature: 1 where labels differ, otherwise that of the successors. "
        "It bounds the difference of the probabilities of every property.",
    )
    add(
        "--average",
        action="store_true",
        help="The average cost per step in the long run, instead of a sum of discounted costs; without starts from the "
        "best pair of states.",
    )
    add(
        "--horizon",
        type=int,
        metavar="H",
        help="Add up the costs of H steps, at the times 0 to H-1, instead of infinitely many.",
    )
    add(
        "--label-changes",
        action="store_true",
        help="Let steps be changes of label, for properties that do not depend on the number of steps.",
    )
    add("--normalised", action="store_true", help="Multiply by 1-γ: a weighted mean of costs instead of their sum.")
    add(
        "--pairs",
        choices=("all", "reachable"),
        default="all",
        metavar="PAIRS",
        help="'all' pairs of states (the default), or those 'reachable' from the starts, which may be far fewer.",
    )
    add_start(command)
    add_policy(command)
    add_reading(command)
    add_solving(command)
    add_answer(command)


def _run(options: Namespace) -> int:
    if options.average and options.discount is not None:
        raise InvalidOption("--average and --discount are given, expected one; an average cost has no discount")
    without = options.bisimilarity or options.average or options.horizon is not None
    if options.discount is None and not without:
        raise InvalidOption("the following arguments are required: --discount (`bisimetric distance --help` explains)")
    options.discount = 1.0 if options.discount is None else options.discount
    from bisimetric.cli.distance import DistanceRequest, run

    return run(DistanceRequest.of(options))


COMMAND = Command(
    "distance",
    "distance A B --discount G",
    "The certified distance between two chains.",
    DISTANCE_HELP,
    _add_arguments,
    _run,
    EXIT_CODES,
)
