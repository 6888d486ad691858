"""`bisimetric pairwise` on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bisimetric.cli.arguments import (
    MODEL_HELP,
    Command,
    add_actions,
    add_cost,
    add_discount,
    add_out,
    add_plot,
    add_policy,
    add_reading,
    add_report,
    add_solver,
    add_time_limit,
)

PAIRWISE_HELP = """\
Print the certified distances between many chains, or many decision processes,
from their starts.

A store keeps every finished pair: after an interrupt, a crash or kill -9 the
same command goes on from there, and other commands use the pairs they share.

Examples:
  bisimetric pairwise four-rooms:p0 four-rooms:p1 four-rooms:p2 \\
      --discount 0.95 --out D.csv
  bisimetric pairwise runs/*.json --discount 0.9 --out D.npz \\
      --store pairs --jobs 4 --report map.html
  bisimetric pairwise a.json b.json --against c.json d.json e.json \\
      --discount 0.9 --json

Files of --out:
  .csv    the distances, with the models' names in the first row and column; a
          name that a spreadsheet could take for a formula begins with '
  .npz    arrays value, lower, upper, status, rows, columns; numpy.load reads it
  .json   the same as --json prints

Keys of --json, null where a value does not exist:
  rows, columns             the models, as given
  value, lower, upper       the distances and their bounds: a list per row
  status                    SOLVED, COMPLETED, STEP_LIMIT, STALLED, TIME_LIMIT
                            or FAILED, likewise
  gap                       max(upper - lower)
  discount, cost, normalised, solver
  output                    the file written
  seconds, memory_bytes     {cpu, wall}, of this process; peak memory"""


def _add_arguments(command: ArgumentParser) -> None:
    command.add_argument("rows", metavar="MODEL", nargs="+", help=f"Chains with a start. {MODEL_HELP}")
    command.add_argument(
        "--against",
        metavar="MODEL",
        nargs="+",
        dest="columns",
        help="Compare with these chains instead of one another.",
    )
    add_discount(command)
    add_cost(command)
    add_actions(command)
    command.add_argument(
        "--normalised", action="store_true", help="Multiply by 1-γ: a weighted mean of costs instead of their sum."
    )
    command.add_argument("--store", metavar="DIR", help="A folder that keeps finished pairs; it is made if need be.")
    command.add_argument("--compact", action="store_true", help="Make one file of all those in --store, at the end.")
    command.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="Number of processes, by default 1, of Ray all processors; -1 is one for every core, -2 for all but one.",
    )
    command.add_argument(
        "--backend",
        metavar="NAME",
        help="Who solves the pairs: processes of this command (the default), 'loky' or another backend of joblib, "
        "'ray', or the address of a Ray cluster, as ray://head:10001, on its machines head:6379.",
    )
    add_time_limit(command)
    add_out(command, "Write the table to FILE, .csv, .npz or .json; - prints the .csv.")
    add_plot(command, "the chains as points at about these distances, or with --against the table,")
    add_report(command)
    add_policy(command)
    add_reading(command)
    add_solver(command)


def _run(options: Namespace) -> int:
    from bisimetric.cli.pairwise import PairwiseRequest, run

    return run(PairwiseRequest.of(options))


COMMAND = Command(
    "pairwise",
    "pairwise MODEL MODEL… --discount G",
    "The distances between many chains.",
    PAIRWISE_HELP,
    _add_arguments,
    _run,
)
