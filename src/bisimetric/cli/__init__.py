"""The command `bisimetric`: parses, calls, prints; the only place that prints.

typer parses the arguments and hands back what to do; `main` does it outside typer, so that errors, Ctrl-C and a
closed pipe are dealt with here alone. Heavy imports wait until a command needs them.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

import typer

from bisimetric._errors import BisimetricError
from bisimetric.cli._app import app
from bisimetric.cli._text import complain
from bisimetric.cli._verdict import ExitCode

__all__ = ["main"]

# typer has click inside or imports it, depending on its version, so the class has no fixed address.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on these arguments (by default those of the process) and return its exit code."""
    _never_fail_to_encode()
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run(arguments or ["--help"])
        sys.stdout.flush()
        return code
    except UsageError as error:
        complain(f"error: {error.format_message()} ({_help_of(error)} explains)")
        return ExitCode.INVALID
    except BrokenPipeError:
        _forget_stdout()
        return ExitCode.BROKEN_PIPE
    except (BisimetricError, MemoryError, OSError) as error:
        _forget_stdout()  # if it is a full disk
        complain(f"error: {_reason(error)}")
        return ExitCode.INVALID
    except (KeyboardInterrupt, typer.Abort) as stopped:
        complain(str(stopped) or "interrupted")  # some say what was reached
        return ExitCode.INTERRUPTED


def _run(arguments: list[str]) -> int:
    task: Callable[[], int] | int | None
    try:
        task = app(arguments, prog_name="bisimetric", standalone_mode=False)
    except SystemExit:  # typer's own answer to a closed pipe, with a code that means something else here
        raise BrokenPipeError from None
    if callable(task):
        return task()
    if task == ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    return ExitCode.FINE  # --help and --version have printed already


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or "out of memory"


def _help_of(error: object) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'bisimetric'} --help"


def _never_fail_to_encode() -> None:
    """A terminal that cannot show a character gets its escape instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """If stdout takes nothing any more, send the rest nowhere, so that the interpreter's last flush is quiet too."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
