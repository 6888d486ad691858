"""`bisimetric compare` on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bisimetric.cli.arguments import Command, add_plot, add_report, add_usual_discount

COMPARE_HELP = """\
Say whether two logs show different behaviour, how sure that is, and what
changed.

A log is a Parquet or CSV file with a row for every step of every sequence:
a column says which sequence (--by), one which state (--state), and one in
which order (--step; without it rows are taken in their order).

Examples:
  bisimetric compare before.parquet after.parquet --by session --state page \\
      --step time
  bisimetric compare a.csv b.csv --by user --state screen --step t --end \\
      --resamples 500 --report change.html
  bisimetric compare a.parquet b.parquet --by run --state node --reward cost \\
      --discount 0.99 --json

Three statements, which are not the same:
  computation   the distance between the two estimated chains, certified; it
                says nothing of the processes behind the logs
  resampling    what two samples of one process would show (no change), the
                p-value, and a bootstrap interval; whole sequences are drawn
  guarantee     an interval for the processes, whatever Markov chains they are

Exit code 0 whether behaviour changed or not; with --fail-below P, 1 if the
p-value is at most P. After Ctrl-C the answer is from the resamples so far.

Keys of --json, null where a value does not exist:
  sentence                  the answer in words
  distance, computation     the plug-in distance, and its certified bounds
  p_value, null, null_quantiles
  bootstrap, percentile     intervals; near_zero: whether not to trust them
  guarantee, sequences_needed
  changed                   transitions that differ: source, target, counts,
                            visits, difference, interval, p_value, effect
  only                      states that only one log visits
  notes, confidence, discount, resamples, seed
  seconds, memory_bytes     {cpu, wall}, of this process; peak memory"""


def _add_arguments(command: ArgumentParser) -> None:
    command.add_argument("a", metavar="A", help="A log: a .parquet or .csv file.")
    command.add_argument("b", metavar="B", help="Another log, with the same columns.")
    columns = command.add_argument_group("columns")
    columns.add_argument("--by", required=True, metavar="COLUMN", help="Which sequence a row belongs to; required.")
    columns.add_argument("--state", required=True, metavar="COLUMN", help="In which state it is; required.")
    columns.add_argument("--step", metavar="COLUMN", help="Numbers or times that order the rows of a sequence.")
    columns.add_argument("--reward", metavar="COLUMN", help="Rewards; the cost is then the gap between their means.")
    rules = command.add_argument_group("how chains are estimated")
    rules.add_argument("--order", type=int, default=1, metavar="K", help="States are the last K values; by default 1.")
    rules.add_argument("--end", action="store_true", help="Let every sequence end in a state '(end)'.")
    rules.add_argument(
        "--unseen",
        choices=("absorbing", "drop"),
        default="absorbing",
        help="States that are never left stay where they are (the default), or are left out.",
    )
    rules.add_argument("--smoothing", type=float, metavar="X", help="Add X to the count of every transition.")
    add_usual_discount(command)
    command.add_argument(
        "--normalised", action="store_true", help="Multiply by 1-γ: a weighted mean of costs instead of their sum."
    )
    command.add_argument(
        "--resamples", type=int, default=200, metavar="N", help="Random splits, and bootstraps; by default %(default)s."
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="The same seed gives the same numbers.")
    command.add_argument("--confidence", type=float, default=0.95, metavar="P", help="By default %(default)s.")
    command.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="Number of processes, by default 1; -1 is one for every core."
    )
    command.add_argument("--fail-below", type=float, metavar="P", help="Exit with code 1 if the p-value is at most P.")
    add_plot(command, "the null, the intervals and the changed transitions")
    add_report(command)


def _run(options: Namespace) -> int:
    from bisimetric.cli.compare import CompareRequest, run

    return run(CompareRequest.of(options))


COMMAND = Command(
    "compare",
    "compare A B --by COLUMN --state COLUMN",
    "Whether two logs show different behaviour.",
    COMPARE_HELP,
    _add_arguments,
    _run,
)
