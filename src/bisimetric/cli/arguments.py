"""What the commands share: what a command is, and the arguments that several of them take.

Only the standard library is imported here and in `commands/`, so that `--help` and completion are quick.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

USUAL_DISCOUNT = 0.95
DISCOUNT_HELP = "Discount factor γ, 0 ≤ γ < 1"
MODEL_HELP = "A built-in name, a file, or - for stdin."


class Command(NamedTuple):
    """A command: its texts, its arguments and what it runs."""

    name: str
    usage: str
    summary: str  # in the list of commands
    description: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
    epilog: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """Options of a command with their types; subclasses add the fields."""

    @classmethod
    def of(cls, options: Namespace) -> Self:
        """The request that the parsed command line makes."""
        return cls(**{field.name: getattr(options, field.name) for field in fields(cls)})


def add_everywhere(command: ArgumentParser) -> None:
    """`--json`, `--quiet` and `--help`, which every command has."""
    command.add_argument("--json", action="store_true", dest="as_json", help="Print JSON instead of text.")
    command.add_argument(
        "-q", "--quiet", action="store_true", help="Print the result alone: no progress, no notes, no explanation."
    )
    add_help(command)


def add_help(parser: ArgumentParser) -> None:
    """`--help`, in our words."""
    parser.add_argument("-h", "--help", action="help", help="Print this text and stop.")


def add_model(command: ArgumentParser) -> None:
    """One model, and how to read it."""
    command.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    add_reading(command)


def add_reading(command: ArgumentParser) -> None:
    """How models are read."""
    group = command.add_argument_group("how models are read")
    group.add_argument(
        "--const",
        action="append",
        metavar="N=V,…",
        help="Constants of PRISM and JANI models, of all that are given; 'brp.prism,N=16' sets one of a single model.",
    )
    group.add_argument(
        "--normalise-rows",
        action="store_true",
        help="Divide every row of the transitions by its sum, in files .csv, .npy, .tra and .json.",
    )


def add_policy(command: ArgumentParser) -> None:
    """How decision processes become chains."""
    command.add_argument(
        "--policy",
        choices=("uniform", "optimal"),
        metavar="POLICY",
        help="Take decision processes as chains under this policy: 'uniform', as those of gym:ID without it, or "
        "'optimal' for --discount.",
    )


def add_discount(command: ArgumentParser, text: str = DISCOUNT_HELP) -> None:
    """A discount that has to be given."""
    command.add_argument("--discount", type=float, required=True, metavar="G", help=f"{text}; required.")


def add_usual_discount(command: ArgumentParser) -> None:
    """A discount that may be left out."""
    command.add_argument(
        "--discount", type=float, default=USUAL_DISCOUNT, metavar="G", help=f"{DISCOUNT_HELP}; by default %(default)s."
    )


def add_cost(command: ArgumentParser) -> None:
    """The cost between states."""
    command.add_argument(
        "--cost",
        metavar="COST",
        help="Cost between states: 'reward' (difference of rewards, the default), 'labels' (1 where labels differ, "
        "added up along the way; `distance --bisimilarity` is the other one), 'label-difference' (how many labels "
        "of two sets differ), 'label-jaccard' (which share), a weighted sum as in 'reward+0.5*labels', or a file "
        "(.npy, .csv, .json) with one row per state of A and one column per state of B.",
    )


def add_actions(command: ArgumentParser) -> None:
    """How actions of decision processes meet."""
    command.add_argument(
        "--actions",
        choices=("same", "matched"),
        default="same",
        metavar="RULE",
        help="How actions of decision processes meet: 'same' (the default), both sides take the same action; "
        "'matched', the best action of the other side answers (the lax metric).",
    )


def add_start(command: ArgumentParser) -> None:
    """Where the two models start."""
    command.add_argument(
        "--start",
        nargs=2,
        metavar=("A0", "B0"),
        help="Start states, by index or name, instead of those of the models.",
    )


def add_answer(command: ArgumentParser) -> None:
    """What becomes of a solution."""
    group = command.add_argument_group("what becomes of the answer")
    add_out(group, "Write the solution to FILE, .npz or .json.")
    add_plot(group, "the distances")
    add_report(group)
    group.add_argument(
        "--match",
        nargs="?",
        const="distance",
        choices=("distance", "coupling"),
        metavar="BY",
        help="Match states one-to-one as well: by 'distance' (the default), with the smallest total; or by 'coupling', "
        "those that the two models are in together for most of the time.",
    )
    group.add_argument(
        "--fail-above",
        type=float,
        metavar="X",
        help="Exit with code 0 if the distance is at most X, 1 if it is above, 3 if the interval contains X.",
    )


def add_solver(command: ArgumentParser) -> _ArgumentGroup:
    """Which solver, with which options."""
    group = command.add_argument_group("how it is solved")
    group.add_argument(
        "--solver", metavar="SOLVER", help="Solver, by default an exact one; `bisimetric solvers` lists them."
    )
    group.add_argument(
        "--set",
        action="append",
        dest="settings",
        metavar="OPTION=VALUE",
        help="Set an option of the solver, as in --set rounds=750 --set step_size=decaying:10; may be repeated.",
    )
    group.add_argument(
        "--tol",
        type=float,
        metavar="T",
        help="Gap to reach: max(upper - lower) over all pairs of states, relative to the largest upper bound. By "
        "default that of the solver, and missing it is not an error.",
    )
    return group


def add_solving(command: ArgumentParser) -> None:
    """The same, and when to give up."""
    group = add_solver(command)
    group.add_argument(
        "--max-steps", type=int, metavar="N", help="Largest number of solver steps; by default that of the solver."
    )
    add_time_limit(group)


def add_time_limit(command: ArgumentParser | _ArgumentGroup) -> None:
    """When to give up."""
    command.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="Stop solving after this time, with the interval reached by then, no explanation, and exit code 3; by "
        "default there is no limit.",
    )


def add_out(command: ArgumentParser | _ArgumentGroup, text: str) -> None:
    """The file that a command writes; older spellings are understood and not shown."""
    command.add_argument("-o", "--out", metavar="FILE", help=text)
    command.add_argument("--save", "--output", dest="out", metavar="FILE", help=SUPPRESS, default=SUPPRESS)


def add_plot(command: ArgumentParser | _ArgumentGroup, text: str) -> None:
    """The picture that a command draws."""
    command.add_argument("--plot", metavar="FILE", help=f"Draw {text} to FILE, .png, .svg or .pdf; needs matplotlib.")


def add_report(command: ArgumentParser | _ArgumentGroup) -> None:
    """The page that a command writes."""
    command.add_argument(
        "--report",
        metavar="FILE",
        help="Write an interactive page to FILE, .html, that opens in any browser; needs vl-convert-python.",
    )


def add_nothing(command: ArgumentParser) -> None:
    """No arguments of its own."""
