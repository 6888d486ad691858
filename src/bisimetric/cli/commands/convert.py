"""`bisimetric convert` on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bisimetric.cli.arguments import Command, add_reading

CONVERT_HELP = """\
Read a model in any format and write it in another.

IN is anything that other commands take: a file, a built-in environment, gym:…,
or - for stdin. OUT is a file, whose ending says the format, or - for stdout:
  .json .npz   every detail, read back bit for bit
  .drn         for Storm
  .tra         for PRISM and Storm, with .lab, .srew, .trew, .sta beside it

Examples:
  bisimetric convert mine.json mine.npz
  bisimetric convert gym:FrozenLake-v1 lake.json
  bisimetric convert gym:FrozenLake-v1 walk.json --policy optimal \\
      --discount 0.99
  bisimetric convert counts.csv chain.json --normalise-rows
  bisimetric convert brp.prism brp.drn --const N=16,MAX=2
  bisimetric convert four-rooms:p1 - --to json | bisimetric quotient -

Keys of --json:
  model, kind               as given; chain or mdp
  states, actions           how many; actions is null for a chain
  transitions               how many, of all actions
  rewards, labels, starts   whether it has them; the number of start states
  output                    the file written
  seconds, memory_bytes     {cpu, wall}; peak memory"""


def _add_arguments(command: ArgumentParser) -> None:
    add = command.add_argument
    add("model", metavar="IN", help="A built-in name, a file, or - for stdin.")
    add("out", metavar="OUT", help="The file to write, or - for stdout.")
    add(
        "--from",
        dest="from_format",
        metavar="FORMAT",
        help="The format of stdin, as the ending of a file; else its beginning tells.",
    )
    add("--to", dest="to_format", metavar="FORMAT", help="The format of stdout, as the ending of a file; json.")
    add(
        "--policy",
        metavar="POLICY",
        choices=("uniform", "optimal"),
        help="Make a chain of a decision process: under the 'uniform' policy, or the 'optimal' one for --discount.",
    )
    add("--discount", type=float, metavar="G", help="Discount factor γ of the optimal policy, 0 ≤ γ < 1.")
    add_reading(command)


def _run(options: Namespace) -> int:
    from bisimetric.cli.convert import ConvertRequest, run

    return run(ConvertRequest.of(options))


COMMAND = Command(
    "convert",
    "convert IN OUT",
    "A model in another format.",
    CONVERT_HELP,
    _add_arguments,
    _run,
)
