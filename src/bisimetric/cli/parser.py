"""The command line: the commands, their arguments, and the function that each command calls.

Only the standard library is imported here. A command's own module is imported when it runs, so `--help` is quick and
`bisimetric distance` loads nothing that other commands need.
"""

from __future__ import annotations

import sys
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from difflib import get_close_matches
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from bisimetric import __version__
from bisimetric.cli import help_texts
from bisimetric.cli.messages import ExitCode
from bisimetric.errors import InvalidOption

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

WIDTH = 80  # columns at most
USUAL_DISCOUNT = 0.95
DISCOUNT_HELP = "Discount factor γ, 0 ≤ γ < 1"


def run(arguments: list[str]) -> int:
    """Parse the arguments and run the command; returns the exit code. Wrong usage raises InvalidOption."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit:  # --help and --version have printed already
        return ExitCode.SUCCESS
    from bisimetric._support.memory import require_space_for_libraries

    require_space_for_libraries()
    return int(options.run(options))


class _Parser(ArgumentParser):
    """A parser that raises our error instead of exiting, and names unknown options before it misses known ones."""

    def error(self, message: str) -> NoReturn:
        raise InvalidOption(f"{message} (`{self.prog} --help` explains)")

    def parse_known_args(  # type: ignore[override]
        self, args: list[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        known = self._option_string_actions
        for word in args or []:
            name = word.partition("=")[0]
            if name == "--":
                break
            if not self._subparsers and name.startswith("--") and name not in known:
                close = get_close_matches(name, known, 1)
                self.error(f"unknown option {name}" + (f"; did you mean {close[0]}?" if close else ""))
        return super().parse_known_args(args, namespace)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        (sys.stdout if file is None else file).write(self.format_help())  # argparse would ignore a failed write


class _Formatter(RawDescriptionHelpFormatter):
    """Lay out options in at most WIDTH columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=min(WIDTH, get_terminal_size().columns) - 1)


class _PrintVersion(Action):
    """Print the version and stop."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"bisimetric {__version__}\n")
        parser.exit()


def _parser() -> ArgumentParser:
    parser = _Parser(
        prog="bisimetric",
        usage="bisimetric COMMAND [options]",
        description=help_texts.OVERVIEW,
        epilog=help_texts.OVERVIEW_END,
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    _add_help(parser)
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="Print the version and stop.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="bisimetric", required=True)
    for command in COMMANDS:
        added = commands.add_parser(
            command.name,
            usage=f"bisimetric {command.usage} [options]",
            help=command.summary,
            description=command.description,
            epilog=command.epilog,
            formatter_class=_Formatter,
            allow_abbrev=False,
            add_help=False,
        )
        command.add_arguments(added)
        added.add_argument("--json", action="store_true", dest="as_json", help="Print JSON instead of text.")
        _add_help(added)
        added.set_defaults(run=command.run)
    return parser


def _add_help(parser: ArgumentParser) -> None:
    parser.add_argument("-h", "--help", action="help", help="Print this text and stop.")


def _add_distance_arguments(command: ArgumentParser) -> None:
    add = command.add_argument
    add("source", metavar="A", help="First chain: a built-in name or a file.")
    add("target", metavar="B", help="Second chain.")
    add("--discount", type=float, required=True, metavar="G", help=f"{DISCOUNT_HELP}; required.")
    add(
        "--cost",
        default="reward",
        metavar="COST",
        help="Cost between states: 'reward' (difference of rewards, the default), 'labels' (1 where labels differ), "
        "or a file (.npy, .csv, .json) with one row per state of A and one column per state of B.",
    )
    add(
        "--start",
        nargs=2,
        metavar=("A0", "B0"),
        help="Start states, by index or name, instead of those of the chains.",
    )
    add("--normalised", action="store_true", help="Multiply by 1-γ: a weighted mean of costs instead of their sum.")
    add(
        "--solver",
        default="policy-iteration",
        metavar="NAME",
        help="Solver, by default policy-iteration; `bisimetric solvers` lists them.",
    )
    add(
        "--tol",
        type=float,
        metavar="T",
        help="Gap to reach: max(upper - lower) over all pairs of states, relative to the largest upper bound. By "
        "default that of the solver, and missing it is not an error.",
    )
    add("--max-steps", type=int, metavar="N", help="Largest number of solver steps; by default that of the solver.")
    _add_time_limit(command)
    add("--save", metavar="FILE", help="Write the solution to FILE, .npz or .json.")
    add("--plot", metavar="FILE", help="Draw the distances to FILE, .png, .svg or .pdf; needs matplotlib.")
    add(
        "--fail-above",
        type=float,
        metavar="X",
        help="Exit with code 0 if the distance is at most X, 1 if it is above, 3 if the interval contains X.",
    )


def _add_states_arguments(command: ArgumentParser) -> None:
    _add_model(command)
    _add_usual_discount(command)
    _add_time_limit(command)


def _add_quotient_arguments(command: ArgumentParser) -> None:
    _add_model(command)
    _add_output(command)


def _add_aggregate_arguments(command: ArgumentParser) -> None:
    _add_model(command)
    command.add_argument("--epsilon", type=float, metavar="E", help="The largest distance inside a class, E ≥ 0.")
    command.add_argument("--n-states", type=int, metavar="N", help="The number of states of the small chain.")
    _add_usual_discount(command)
    _add_output(command)


def _add_reproduce_arguments(command: ArgumentParser) -> None:
    command.add_argument("experiment", metavar="EXPERIMENT", help="One of those above.")
    command.add_argument("--quick", action="store_true", help="Fewer sizes, seeds and rounds.")
    command.add_argument(
        "--out", metavar="DIR", help="Folder for the files; by default reproduction, or reproduction-quick."
    )
    command.add_argument("--instances", metavar="DIR", help="Folder with other instances, such as the authors'.")


def _add_nothing(command: ArgumentParser) -> None:
    pass


def _add_model(command: ArgumentParser) -> None:
    command.add_argument("model", metavar="MODEL", help="A built-in name or a chain file.")


def _add_usual_discount(command: ArgumentParser) -> None:
    command.add_argument(
        "--discount", type=float, default=USUAL_DISCOUNT, metavar="G", help=f"{DISCOUNT_HELP}; by default %(default)s."
    )


def _add_time_limit(command: ArgumentParser) -> None:
    command.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="Stop solving after this time, with the interval reached by then and no explanation; by default there is "
        "no limit.",
    )


def _add_output(command: ArgumentParser) -> None:
    command.add_argument("--output", "-o", metavar="FILE", help="Write the small chain to FILE, .npz or .json.")


def _distance(options: Namespace) -> int:
    from bisimetric.cli.distance import Request, run

    return run(Request.of(options))


def _states(options: Namespace) -> int:
    from bisimetric.cli.bisimulation import run_states

    return run_states(options.model, options.discount, options.time_limit, as_json=options.as_json)


def _quotient(options: Namespace) -> int:
    from bisimetric.cli.bisimulation import run_quotient

    return run_quotient(options.model, options.output, as_json=options.as_json)


def _aggregate(options: Namespace) -> int:
    from bisimetric.cli.bisimulation import run_aggregate

    return run_aggregate(
        options.model, options.epsilon, options.n_states, options.discount, options.output, as_json=options.as_json
    )


def _reproduce(options: Namespace) -> int:
    from bisimetric.cli.reproduce import run_reproduce

    return run_reproduce(
        options.experiment, options.out, quick=options.quick, instances=options.instances, as_json=options.as_json
    )


def _solvers(options: Namespace) -> int:
    from bisimetric.cli.listings import list_solvers

    return list_solvers(as_json=options.as_json)


def _environments(options: Namespace) -> int:
    from bisimetric.cli.listings import list_environments

    return list_environments(as_json=options.as_json)


class Command(NamedTuple):
    """A command: its texts, its arguments and what it runs."""

    name: str
    usage: str
    summary: str  # in the list of commands
    description: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
    epilog: str | None = None


COMMANDS = (
    Command(
        "distance",
        "distance A B --discount G",
        "The certified distance between two chains.",
        help_texts.DISTANCE_HELP,
        _add_distance_arguments,
        _distance,
        help_texts.EXIT_CODES,
    ),
    Command(
        "states",
        "states MODEL",
        "Which states behave alike, which are close.",
        help_texts.STATES_HELP,
        _add_states_arguments,
        _states,
    ),
    Command(
        "quotient",
        "quotient MODEL",
        "The smallest chain that behaves the same.",
        help_texts.QUOTIENT_HELP,
        _add_quotient_arguments,
        _quotient,
    ),
    Command(
        "aggregate",
        "aggregate MODEL",
        "A smaller chain that behaves nearly the same.",
        help_texts.AGGREGATE_HELP,
        _add_aggregate_arguments,
        _aggregate,
    ),
    Command(
        "reproduce",
        "reproduce EXPERIMENT",
        "The paper's experiments, again.",
        help_texts.REPRODUCE_HELP,
        _add_reproduce_arguments,
        _reproduce,
    ),
    Command("solvers", "solvers", "The solvers, with their options.", help_texts.SOLVERS_HELP, _add_nothing, _solvers),
    Command(
        "environments",
        "environments",
        "The built-in environments.",
        help_texts.ENVIRONMENTS_HELP,
        _add_nothing,
        _environments,
    ),
)
