"""The commands as the command line sees them: names, help, examples."""

import re
import shlex

import pytest

from bisimetric.cli import parser

NAMES = [command.name for command in parser.COMMANDS]


def examples(text):
    """The command lines under `Examples:`, with continued lines joined."""
    joined = text.replace("\\\n", " ")
    return re.findall(r"^  (bisimetric .*)$", joined.partition("Examples:\n")[2], re.MULTILINE)


def test_every_command_is_in_the_table_once():
    """A new command is a file here and a line there."""
    assert len(set(NAMES)) == len(NAMES) >= 8


@pytest.mark.parametrize("name", NAMES)
def test_examples_parse(command, name):
    """Every example in the help of a command is a command line that it accepts."""
    found = examples(command(name, "--help").out)
    assert found
    for line in found:
        words = shlex.split(line.partition(" | ")[0])[1:]
        assert parser.parser().parse_args(words).run


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_json_and_quiet(command, name):
    """And every `--json` is documented."""
    text = command(name, "--help").out
    assert "--json" in text
    assert "-q, --quiet" in text
    assert "Keys of --json" in text


@pytest.mark.parametrize("name", NAMES)
def test_one_spelling_of_output_options(command, name):
    """Files are written by --out and pictures by --plot; older spellings work and are not shown."""
    text = command(name, "--help").out
    assert "--save" not in text
    assert "--output" not in text
    given = parser.parser()._subparsers._group_actions[0].choices[name]._option_string_actions
    assert ("--save" in given) == ("--output" in given)
    if "--save" in given:
        assert given["--save"].dest == given["--output"].dest == given["-o"].dest == "out"
