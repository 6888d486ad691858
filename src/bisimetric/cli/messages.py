"""Short answers of a command: exit codes, verdicts, one line on stderr, and numbers as text.

Names of states and files are data: characters that could move the cursor, change colours or reorder a line are shown as
escapes. A number in an interval gets the digits that the interval proves and one or two more; printed bounds are
rounded outwards, so they hold as printed. Only the standard library is imported here: the command needs this module
even where numpy cannot be loaded.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from enum import Enum, IntEnum
from typing import NamedTuple

from bisimetric._support.text import printable as printable

LONGEST_MESSAGE = 2_000
FLOAT_DIGITS = 17  # significant digits that distinguish any two floats
DIGITS_BEYOND = 2  # digits after the last decimal that the interval proves
PLAIN_FROM, PLAIN_TO = -5, 14  # powers of ten written without an exponent

EXIT_CODES = """\
Exit codes:
  0    success
  1    the distance is above the limit of --fail-above; nothing else gives 1
  2    no answer, and a line on stderr that says why: wrong input or usage, too
       little memory, output that cannot be written, a defect
  3    undecided: the interval contains the limit of --fail-above; or, without
       --fail-above, --tol was not reached or --time-limit ended the work
  130  interrupted; the interval reached so far is on stderr
"""
REMEDIES_HERE = {  # the library's remedies, in words of the command line
    "mdp.under(policy) makes one": "--policy uniform walks it as gym:ID is walked, and `bisimetric metric` compares "
    "decision processes themselves",
    "mdp.under(policy) makes a chain, as_mdp(chain) an MDP with one action": "`bisimetric convert IN OUT --policy "
    "uniform` makes a chain of a decision process",
    "MarkovChain.normalised(...) rescales rows": "--normalise-rows rescales rows",
    "divide each row by its sum": "--normalise-rows rescales rows",
    "FILE,normalise rescales rows, on the command line --normalise-rows": "--normalise-rows rescales rows",
    "normalise=True ": "--normalise-rows ",
    'deadlocks="self-loops" gives': "deadlocks=self-loops behind the file name and a comma gives",
    'give constants="': 'give --const "',
    'actions="matched" compares them': "--actions matched compares them",
    "chain.with_start(...) sets one, pairs='all' solves every pair": "--start A0 B0 sets one, --pairs all solves all",
    "leave solver=None": "leave out --solver",
    "raise time_limit": "raise --time-limit",
    "use fewer n_jobs": "use fewer --jobs",
    "choose pairs='reachable'": "choose --pairs reachable",
    "give it one of them: MarkovChain(..., reward=...) or labels=...": 'give it "reward" or "labels" in its .json '
    "file, or reward=[…] behind the name of a .csv or .npy file and a comma",
    "give it one: reward=...": 'give it "reward" in its .json file, or reward=[…] behind the name of a .csv or .npy '
    "file and a comma",
    "label_mismatch (--cost labels), say": "--cost labels, say",
    "solution.problem has its two models": "a file of --out is no model",
}
OPTIONS_HERE = re.compile(  # names of arguments that begin a message, in words of the command line
    r"(?<=error: )(discount|tol|time_limit|max_steps|epsilon|n_states|n_jobs|horizon)(?= is )"
)
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


class ExitCode(IntEnum):
    """The exit codes of the command; its help explains them."""

    SUCCESS = 0
    ABOVE = 1
    INVALID = 2
    UNDECIDED = 3
    INTERRUPTED = 130
    BROKEN_PIPE = 141  # as a shell reports SIGPIPE


class Verdict(Enum):
    """Where the distance lies relative to a limit."""

    WITHIN = "within"
    ABOVE = "above"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> ExitCode:
        """0, 1 or 3."""
        return {
            Verdict.WITHIN: ExitCode.SUCCESS,
            Verdict.ABOVE: ExitCode.ABOVE,
            Verdict.UNDECIDED: ExitCode.UNDECIDED,
        }[self]


def judge(interval: tuple[float, float], limit: float) -> Verdict:
    """What the interval proves about the limit."""
    lower, upper = interval
    if upper <= limit:
        return Verdict.WITHIN
    return Verdict.ABOVE if lower > limit else Verdict.UNDECIDED


def tell(message: str) -> None:
    """Print one line on stderr, with control characters escaped; a closed or full stderr is ignored."""
    line = printable(" ".join(message.split()), LONGEST_MESSAGE)
    for remedy, here in REMEDIES_HERE.items():
        line = line.replace(remedy, here)
    line = OPTIONS_HERE.sub(lambda name: "--" + ("jobs" if name[1] == "n_jobs" else name[1].replace("_", "-")), line)
    with suppress(OSError, ValueError):
        print(f"bisimetric: {line}", file=sys.stderr, flush=True)


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Print no progress and no notes inside, if `quiet`; errors and warnings are printed."""
    before = _quiet.set(quiet)
    try:
        yield
    finally:
        _quiet.reset(before)


def is_quiet() -> bool:
    """Whether the result alone is wanted."""
    return _quiet.get()


def note(message: str) -> None:
    """Print one line on stderr that may be left out: where a file is."""
    if not is_quiet():
        tell(message)


class Digits(NamedTuple):
    """A value and its bounds as text."""

    value: str
    lower: str
    upper: str

    @property
    def interval(self) -> str:
        """The bounds in brackets, lower first."""
        return f"[{self.lower}, {self.upper}]"


def digits(value: float, lower: float, upper: float) -> Digits:
    """The three numbers with the same decimals: those that the interval proves and DIGITS_BEYOND more."""
    width = upper - lower
    if width == 0.0:
        return Digits(*(repr(number).removesuffix(".0") for number in (value, lower, upper)))
    decimals = math.floor(-math.log10(width)) + DIGITS_BEYOND
    plain = PLAIN_FROM <= Decimal(upper).adjusted() <= PLAIN_TO
    roundings = ((value, ROUND_HALF_EVEN), (lower, ROUND_FLOOR), (upper, ROUND_CEILING))
    return Digits(*(_rounded(number, decimals, way, plain=plain) for number, way in roundings))


def _rounded(number: float, decimals: int, rounding: str, *, plain: bool) -> str:
    if number == 0.0:
        return "0"
    exact = Decimal(number)
    last = max(-decimals, exact.adjusted() - FLOAT_DIGITS + 1)  # power of ten of the last digit
    last = min(last, exact.adjusted())
    rounded = exact.quantize(Decimal((0, (1,), last)), rounding, Context(prec=FLOAT_DIGITS + 2))
    return f"{rounded:{'f' if plain and last <= 0 else 'e'}}"


def duration(seconds: float) -> str:
    """Seconds as text: 1.50 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
