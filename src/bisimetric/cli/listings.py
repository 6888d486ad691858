"""`bisimetric solvers` and `bisimetric environments`: the names that the command line accepts."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.padding import Padding
from rich.text import Text

from bisimetric import environments, solvers
from bisimetric.cli.messages import ExitCode
from bisimetric.cli.output import columns_table, print_json, show

INDENT = (0, 0, 0, 4)


def list_solvers(*, as_json: bool, quiet: bool = False) -> int:
    """Print name, description, tolerance and options of every solver."""
    known = [_describe(solver) for solver in solvers.all_solvers().values()]
    if as_json:
        print_json(known)
        return ExitCode.SUCCESS
    if quiet:
        show(*(Text(solver["name"]) for solver in known))
        return ExitCode.SUCCESS
    table = columns_table()
    table.add_column("solver", no_wrap=True, style="bold")
    table.add_column("tolerance", no_wrap=True)
    table.add_column("what it does, and its options")
    for solver in known:
        tolerance = f"{solver['tolerance']:g}" if solver["tolerance"] else "rounds"
        table.add_row(solver["name"], tolerance, solver["description"])
        if solver["options"]:
            table.add_row("", "", ", ".join(f"{name}={value!r}" for name, value in solver["options"].items()))
    show(
        table,
        Text(
            "\nThe tolerance bounds the certified relative gap, and --tol sets another. A solver "
            "with 'rounds' runs a number of rounds instead. --set changes an option:\n"
            "--solver sinkhorn-value-iteration --set rounds=750 --set step_size=decaying:10",
            style="dim",
        ),
    )
    return ExitCode.SUCCESS


def _describe(solver: type[Any]) -> dict[str, Any]:
    options = {field.name: getattr(solver(), field.name) for field in dataclasses.fields(solver)}
    return {
        "name": solver.name,
        "description": (solver.__doc__ or "").strip().partition("\n")[0],
        "tolerance": solver.default_tol,
        "max_steps": solver.default_max_steps,
        "options": {
            name: value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)
            for name, value in options.items()
        },
    }


def list_environments(*, as_json: bool, quiet: bool = False) -> int:
    """Print pattern, description and an example of every environment."""
    known = environments.catalogue()
    if as_json:
        print_json([dataclasses.asdict(entry) for entry in known])
        return ExitCode.SUCCESS
    if quiet:
        show(*(Text(entry.example) for entry in known))
        return ExitCode.SUCCESS
    for entry in known:
        show(Text(entry.pattern, style="bold"), Padding(entry.description, INDENT))
        if entry.example != entry.pattern:
            show(Padding(Text(f"for example {entry.example}", style="dim"), INDENT))
    return ExitCode.SUCCESS
