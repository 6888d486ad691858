"""Help on a terminal, in panels: usage, what the command does, examples, groups of options, then reference.

The texts are those of the parser, which prints them plainly into pipes and files. In a description, a line that ends
with a colon and is followed by indented lines begins a panel. Only terminals get here, so only they wait for rich.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import SUPPRESS, Action, ArgumentParser, HelpFormatter, _SubParsersAction
from collections.abc import Iterator
from shutil import get_terminal_size
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

HELP_WIDTH = 100  # columns at most
WIDEST_NAME = 26  # columns of an option; a longer one is wrapped
TITLES = {"positional arguments": "Arguments", "options": "Options"}  # argparse's own, in our words
TWO_COLUMNS = re.compile(r"  (\S.*?)  +(\S.*)")  # of a line with a name and what it means
NAME_ALONE = re.compile(r"  (\S.*)")


class HelpSection(NamedTuple):
    """A part of a description: prose without a title, or indented lines below one."""

    title: str
    lines: list[str]


def wants_panels() -> bool:
    """Whether stdout is a terminal that can draw them, or FORCE_COLOR asks for them."""
    if os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def panels(parser: ArgumentParser, formatter: HelpFormatter) -> str:
    """The help of a parser for a terminal."""
    from rich.console import Console

    width = min(HELP_WIDTH, get_terminal_size().columns)
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    with console.capture() as laid_out:
        for part in _parts(parser, formatter):
            console.print(part)
    return re.sub(r" +$", "", laid_out.get(), flags=re.MULTILINE)


def sections(text: str) -> list[HelpSection]:
    """The parts of a description or an epilog."""
    found: list[HelpSection] = []
    for block in re.split(r"\n\n+", text.strip("\n")):
        first, *rest = block.split("\n")
        if first.endswith(":") and rest and all(line.startswith("  ") for line in rest):
            found.append(HelpSection(first.removesuffix(":"), rest))
        else:
            found.append(HelpSection("", block.split("\n")))
    return found


def _parts(parser: ArgumentParser, formatter: HelpFormatter) -> Iterator[RenderableType]:
    from rich.text import Text

    usage = parser.format_usage().removeprefix("usage: ").strip()
    yield Text.assemble("\n", ("Usage: ", "bold yellow"), (usage, "bold"), "\n")
    told = sections(parser.description or "") + sections(parser.epilog or "")
    first = [part for part in told if not part.title or part.title == "Examples"]
    for part in first:
        yield _section(part)
    for group in sorted(parser._action_groups, key=lambda group: group.title != "commands"):  # these come first
        rows = [row for action in group._group_actions for row in _rows(action, formatter)]
        if rows:
            title = TITLES.get(group.title or "", (group.title or "").capitalize())
            yield _panel(title, _two_columns(rows))
    for part in told:
        if part not in first:
            yield _section(part)


def _section(part: HelpSection) -> RenderableType:
    from rich.text import Text

    if not part.title:
        return Text(" ".join(" ".join(part.lines).split()) + "\n")
    if part.title == "Examples":
        lines = [line.removeprefix("  ") for line in part.lines]
        return _panel(part.title, Text("\n").join(_example(line) for line in lines))
    rows = _as_rows(part.lines)
    return _panel(part.title, Text(dedent("\n".join(part.lines))) if rows is None else _two_columns(rows))


def _example(line: str) -> Text:
    from rich.text import Text

    command, space, rest = line.partition(" ")
    return Text.assemble((command, "bold cyan"), space, rest) if command == "bisimetric" else Text(line)


def _as_rows(lines: list[str]) -> list[tuple[str, str]] | None:
    """Names and what they mean, if the lines are such a list."""
    rows: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("   ") and rows:
            rows[-1] = rows[-1][0], f"{rows[-1][1]} {line.strip()}"
        elif match := TWO_COLUMNS.fullmatch(line):
            rows.append((match[1], match[2]))
        elif (alone := NAME_ALONE.fullmatch(line)) and not line.lstrip().startswith("{"):
            rows.append((alone[1], ""))
        else:
            return None
    return rows


def _rows(action: Action, formatter: HelpFormatter) -> Iterator[tuple[str, str]]:
    if isinstance(action, _SubParsersAction):
        for choice in action._choices_actions:
            yield choice.dest, choice.help or ""
    elif action.help != SUPPRESS:
        yield formatter._format_action_invocation(action), formatter._expand_help(action) if action.help else ""


def _two_columns(rows: list[tuple[str, str]]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    widest = min(max(len(name) for name, _ in rows), WIDEST_NAME)
    table.add_column(style="bold cyan", min_width=widest, max_width=widest)
    table.add_column(ratio=1)
    for name, meaning in rows:
        table.add_row(name, meaning)
    return table


def _panel(title: str, body: RenderableType) -> RenderableType:
    from rich.panel import Panel
    from rich.text import Text

    return Panel(body, title=Text(title, style="bold"), title_align="left", border_style="dim")
