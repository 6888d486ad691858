"""What an exit code means, and whether a certified interval is within a limit."""

from __future__ import annotations

from enum import Enum, IntEnum


class ExitCode(IntEnum):
    """The exit codes of the command, as its help lists them."""

    FINE = 0
    ABOVE = 1
    INVALID = 2
    UNDECIDED = 3
    INTERRUPTED = 130
    BROKEN_PIPE = 141  # as a shell reports SIGPIPE


class Verdict(Enum):
    """Where the distance is, seen from a limit; the value is the word for it."""

    WITHIN = "within"
    ABOVE = "above"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> ExitCode:
        """0, 1 or 3."""
        return {
            Verdict.WITHIN: ExitCode.FINE,
            Verdict.ABOVE: ExitCode.ABOVE,
            Verdict.UNDECIDED: ExitCode.UNDECIDED,
        }[self]


def judge(interval: tuple[float, float], limit: float) -> Verdict:
    """What the interval proves about the limit."""
    lower, upper = interval
    if upper <= limit:
        return Verdict.WITHIN
    return Verdict.ABOVE if lower > limit else Verdict.UNDECIDED
