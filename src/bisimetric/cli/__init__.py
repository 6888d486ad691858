"""The command `bisimetric`: parses, calls, prints. No other folder prints. It may import every other folder.

`main` turns every error into one line on stderr and an exit code. So this module imports only the standard library and
our own light modules; numpy, for example, may not fit into memory. Code 1 is reserved for --fail-above.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from bisimetric.cli.messages import ExitCode, tell
from bisimetric.errors import BisimetricError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on these arguments (by default those of the process) and return its exit code."""
    with ExitStack() as opened:
        try:
            _open_closed_streams(opened)
            _escape_what_cannot_be_encoded()
            code = _run(sys.argv[1:] if argv is None else list(argv))
        except KeyboardInterrupt as stopped:
            tell(str(stopped) or "interrupted")  # pairwise says what was reached
            code = ExitCode.INTERRUPTED
        except Exception:  # the line could not be printed
            code = ExitCode.INVALID
        for stream in (sys.stdout, sys.stderr):
            _discard_if_full(stream)
    return code


def _run(arguments: list[str]) -> int:
    try:
        from bisimetric.cli.parser import run

        code = run(arguments or ["--help"])
        sys.stdout.flush()
        return code
    except (BrokenPipeError, SystemExit):  # rich exits when a pipe is closed
        return ExitCode.BROKEN_PIPE
    except Exception as error:  # a traceback would exit with 1, the code of --fail-above
        tell(f"error: {_reason(error)}")
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
    """The last line of this package in the traceback."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "bisimetric" in file:
            place = f"{os.path.basename(file)}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _open_closed_streams(opened: ExitStack) -> None:
    """Replace closed streams by the null device; otherwise the next file that is opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None or getattr(stream, "closed", False):
            opened.callback(setattr, sys, name, stream)
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - the stack closes it
            setattr(sys, name, opened.enter_context(nowhere))


def _escape_what_cannot_be_encoded() -> None:
    """Print the escape of a character that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_if_full(stream: object) -> None:
    """Discard what a stream holds if it cannot be written, so that the interpreter's last flush cannot fail."""
    if not isinstance(stream, io.TextIOWrapper):
        return
    with suppress(OSError, ValueError):
        stream.flush()
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
