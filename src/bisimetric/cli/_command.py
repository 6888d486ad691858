"""From arguments to an exit code: typer parses and hands back what to do, which is then done outside typer."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import typer

from bisimetric.cli._app import app
from bisimetric.cli._text import complain
from bisimetric.cli._verdict import ExitCode

# typer has click inside or imports it, depending on its version, so the class has no fixed address.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


def run(arguments: list[str]) -> int:
    """Run the command; wrong usage is told here, any other error is the caller's."""
    task: Callable[[], int] | int | None
    try:
        task = app(arguments, prog_name="bisimetric", standalone_mode=False)
    except UsageError as error:
        complain(f"error: {error.format_message()} ({_help_of(error)} explains)")
        return ExitCode.INVALID
    except typer.Abort:
        raise KeyboardInterrupt from None
    if callable(task):
        return task()
    if task == ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    return ExitCode.FINE  # --help and --version have printed already


def _help_of(error: object) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'bisimetric'} --help"
