"""The command `bisimetric`: parses, calls, prints; the only place that prints.

`main` deals with everything that can go wrong, so it imports nothing that can fail before it is called: not typer, nor
numpy, for which there may be too little memory. `_command` does the rest. Code 1 is the verdict of --fail-above alone.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from bisimetric.cli._text import complain
from bisimetric.cli._verdict import ExitCode
from bisimetric.errors import BisimetricError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on these arguments (by default those of the process) and return its exit code."""
    with ExitStack() as opened:
        try:
            _open_closed_streams(opened)
            _never_fail_to_encode()
            code = _run(sys.argv[1:] if argv is None else list(argv))
        except KeyboardInterrupt as stopped:
            complain(str(stopped) or "interrupted")  # some say what was reached
            code = ExitCode.INTERRUPTED
        except Exception:  # not even a line can be printed
            code = ExitCode.INVALID
        for stream in (sys.stdout, sys.stderr):
            _forget_if_full(stream)
    return code


def _run(arguments: list[str]) -> int:
    try:
        from bisimetric.cli._command import run

        code = run(arguments or ["--help"])
        sys.stdout.flush()
        return code
    except (BrokenPipeError, SystemExit):  # the latter is what typer and rich make of a closed pipe
        return ExitCode.BROKEN_PIPE
    except Exception as error:  # a traceback would come with code 1, which means something else here
        complain(f"error: {_reason(error)}")
        return ExitCode.INVALID


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, (BisimetricError, OSError)):
        return str(error)
    if isinstance(error, MemoryError):
        return f"out of memory{f': {error}' if str(error) else ''}"
    if isinstance(error, ImportError):
        return f"a library cannot be loaded, for lack of memory or because the installation is damaged: {error}"
    return f"this is a defect of bisimetric, please report it: {type(error).__name__}: {error} ({_place(error)})"


def _place(error: Exception) -> str:
    """The line of this package that the error comes from."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "bisimetric" in file:
            place = f"{os.path.basename(file)}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _open_closed_streams(opened: ExitStack) -> None:
    """What a closed stdout or stderr would have got goes nowhere; else the next file opened would get it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None or getattr(stream, "closed", False):
            opened.callback(setattr, sys, name, stream)
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - the stack closes it
            setattr(sys, name, opened.enter_context(nowhere))


def _never_fail_to_encode() -> None:
    """A terminal that cannot show a character gets its escape instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget_if_full(stream: object) -> None:
    """If a stream takes nothing any more, send the rest nowhere, so that the interpreter's last flush is quiet too."""
    if not isinstance(stream, io.TextIOWrapper):
        return
    with suppress(OSError, ValueError):
        stream.flush()
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
