"""`bisimetric solvers` and `bisimetric environments` on the command line."""

from __future__ import annotations

from argparse import Namespace

from bisimetric.cli.arguments import Command, add_nothing

SOLVERS_HELP = """\
List the solvers, with their tolerances and options.

Examples:
  bisimetric solvers
  bisimetric solvers --json
  bisimetric distance grid-3x3 open-grid:3 --discount 0.9 \\
      --solver sinkhorn-value-iteration --set rounds=750 --set step_size=1

Keys of --json, a list of objects:
  name, description
  tolerance                 the relative gap that it reaches by default; 0 for
                            a solver that runs a number of rounds
  max_steps
  options                   of --set, with the values that they have by default"""

ENVIRONMENTS_HELP = """\
List the built-in environments.

Examples:
  bisimetric environments
  bisimetric environments --json
  bisimetric distance grid-3x3 matching-four-rooms --discount 0.9

Keys of --json, a list of objects:
  pattern, description
  example                   a name of that pattern"""


def _solvers(options: Namespace) -> int:
    from bisimetric.cli.listings import list_solvers

    return list_solvers(as_json=options.as_json, quiet=options.quiet)


def _environments(options: Namespace) -> int:
    from bisimetric.cli.listings import list_environments

    return list_environments(as_json=options.as_json, quiet=options.quiet)


SOLVERS_COMMAND = Command("solvers", "solvers", "The solvers, with their options.", SOLVERS_HELP, add_nothing, _solvers)
ENVIRONMENTS_COMMAND = Command(
    "environments", "environments", "The built-in environments.", ENVIRONMENTS_HELP, add_nothing, _environments
)
