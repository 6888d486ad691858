"""Help in panels on a terminal, plain everywhere else."""

from __future__ import annotations

import re

import pytest

from bisimetric.cli import help_panels, parser
from bisimetric.cli.help_panels import sections

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
COLOURS = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|9[0-7]|38)[0-9;]*m")


@pytest.fixture
def terminal(monkeypatch):
    """A stdout that takes itself for a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")


@pytest.mark.parametrize("name", ["", *(command.name for command in parser.COMMANDS)])
def test_panels_say_what_the_plain_help_says(name, command, terminal, monkeypatch):
    """Every word of it, in 80 columns."""
    words = [name, "--help"] if name else ["--help"]
    drawn = ESCAPES.sub("", command(*words).out)
    monkeypatch.delenv("FORCE_COLOR")
    plain = command(*words).out
    assert "╭" not in plain
    assert "\x1b" not in plain
    assert "╭─ Options" in drawn
    assert max(map(len, drawn.splitlines())) <= 80
    said = re.sub(r"[\s│╭╮╰╯─-]+", "", drawn)
    for word in plain.replace("usage:", "").replace("positional arguments:", "").split():
        assert re.sub(r"[-:]+", "", word).lower() in said.replace(":", "").lower(), word


def test_no_color(command, terminal, monkeypatch):
    """Panels without colours."""
    assert COLOURS.search(command("distance", "--help").out)
    monkeypatch.setenv("NO_COLOR", "1")
    out = command("distance", "--help").out
    assert "╭" in out
    assert not COLOURS.search(out)


def test_plain_on_simple_terminals(command, terminal, monkeypatch):
    """TERM=dumb can draw nothing."""
    monkeypatch.setenv("TERM", "dumb")
    assert not help_panels.wants_panels()
    assert "╭" not in command("--help").out


def test_sections():
    """A line that ends with a colon and indented lines below it are a section; all else is prose."""
    found = sections("What it does\nin two lines.\n\nExamples:\n  one\n  two\n\nNot one:\nof these.\n")
    assert [part.title for part in found] == ["", "Examples", ""]
    assert found[1].lines == ["  one", "  two"]


def test_suppressed_options_stay_hidden(command, terminal):
    """Older spellings are understood and not shown."""
    assert "--save" not in command("distance", "--help").out
