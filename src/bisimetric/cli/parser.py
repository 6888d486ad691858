"""The command line: the table of commands, and how it is parsed.

Only the standard library is imported here and in `commands/`. What a command needs is imported when it runs, so
`--help` is quick and `bisimetric distance` loads nothing that other commands need.
"""

from __future__ import annotations

import re
import shlex
import sys
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from difflib import get_close_matches
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NoReturn

from bisimetric import __version__
from bisimetric.cli.arguments import Command, add_everywhere, add_help
from bisimetric.cli.commands import (
    bisimulation,
    compare,
    convert,
    distance,
    listings,
    metric,
    pairwise,
    reproduce,
    warm_up,
)
from bisimetric.cli.completion import COMPLETE, print_completions
from bisimetric.cli.help_panels import panels, wants_panels
from bisimetric.cli.messages import EXIT_CODES, ExitCode, quietly
from bisimetric.errors import InvalidOption

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

WIDTH = 80  # columns at most
NO_NUMBER = re.compile(r"^argument (?:\S+/)?(\S+): invalid (int|float) value: (.+)$", re.DOTALL)  # as argparse words it
KINDS_OF_NUMBER = {"int": "a whole number", "float": "a number"}

COMMANDS: tuple[Command, ...] = (
    distance.COMMAND,
    metric.COMMAND,
    pairwise.COMMAND,
    compare.COMMAND,
    bisimulation.STATES_COMMAND,
    bisimulation.QUOTIENT_COMMAND,
    bisimulation.AGGREGATE_COMMAND,
    convert.COMMAND,
    reproduce.COMMAND,
    listings.SOLVERS_COMMAND,
    listings.ENVIRONMENTS_COMMAND,
    warm_up.COMMAND,
)

OVERVIEW = """\
Certified optimal-transport distances and bisimulation metrics between Markov
chains and decision processes."""

OVERVIEW_END = f"""\
Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance mine.json theirs.json --discount 0.9 --json
  bisimetric metric mdp.json other.json --discount 0.9 --actions matched
  bisimetric pairwise runs/*.json --discount 0.9 --out D.csv
  bisimetric compare before.parquet after.parquet --by session --state page
  bisimetric states four-rooms:side=20,goal=all
  bisimetric quotient mine.json --out small.json
  bisimetric aggregate mine.json --epsilon 0.05 --out small.json
  bisimetric convert gym:FrozenLake-v1 lake.json
  bisimetric environments
  bisimetric solvers
  bisimetric reproduce all --quick

`bisimetric COMMAND --help` explains a command.

{EXIT_CODES}"""


def run(arguments: list[str]) -> int:
    """Parse the arguments and run the command; returns the exit code. Wrong usage raises InvalidOption."""
    if arguments[:1] == [COMPLETE]:
        print_completions(parser(), arguments[1:])
        return ExitCode.SUCCESS
    if arguments[:1] == ["--install-completion"] and {"-h", "--help"} & set(arguments):
        arguments = ["--help"]  # nothing is installed
    try:
        options = parser().parse_args(arguments)
    except SystemExit:  # --help and the like have printed already
        return ExitCode.SUCCESS
    options.command_line = shlex.join(["bisimetric", *arguments])
    from bisimetric._support.memory import require_space_for_libraries

    require_space_for_libraries()
    with quietly(options.quiet):
        return int(options.run(options))


class _Parser(ArgumentParser):
    """A parser that raises our error instead of exiting, and names unknown options before it misses known ones."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(
            NO_NUMBER, lambda found: f"{found[1]} is {found[3]}, expected {KINDS_OF_NUMBER[found[2]]}", message
        )
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
        if file is None and wants_panels():
            sys.stdout.write(panels(self, self._get_formatter()))
        else:
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


class _ShowCompletion(Action):
    """Print a shell's script and stop."""

    def __call__(self, parser: ArgumentParser, _: Namespace, shell: Any, *__: object) -> None:
        from bisimetric.cli.completion.install import show_completion

        show_completion(shell)
        parser.exit()


class _InstallCompletion(Action):
    """Write a shell's script where the shell finds it, and stop."""

    def __call__(self, parser: ArgumentParser, _: Namespace, shell: Any, *__: object) -> None:
        from bisimetric.cli.completion.install import install_completion

        install_completion(shell)
        parser.exit()


def parser() -> ArgumentParser:
    """The parser of the whole command line."""
    made = _Parser(
        prog="bisimetric",
        usage="bisimetric COMMAND [options]",
        description=OVERVIEW,
        epilog=OVERVIEW_END,
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    add_help(made)
    made.add_argument("--version", action=_PrintVersion, nargs=0, help="Print the version and stop.")
    for name, action, does in (
        (
            "--install-completion",
            _InstallCompletion,
            "Let the shell complete commands, options and names: bash, zsh or fish.",
        ),
        ("--show-completion", _ShowCompletion, "Print the script that does so."),
    ):
        made.add_argument(name, action=action, nargs="?", metavar="SHELL", help=does)
    commands = made.add_subparsers(title="commands", metavar="COMMAND", prog="bisimetric", required=True)
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
        add_everywhere(added)
        added.set_defaults(run=command.run)
    return made
