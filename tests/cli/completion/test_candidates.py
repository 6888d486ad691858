"""What can follow on a command line."""

import subprocess
import sys

import pytest

import bisimetric as bm
from bisimetric import solvers
from bisimetric.cli.completion.candidates import SHELLS, VALUES, complete, split_line
from bisimetric.cli.parser import COMMANDS, parser


def after(line, shell="zsh"):
    """What the last word of a line may become."""
    return complete(parser(), split_line(line), shell)


def test_commands():
    """All of them, with what they do."""
    assert list(after("bisimetric ").words) == [command.name for command in COMMANDS]
    assert after("bisimetric dist").words == {"distance": "The certified distance between two chains"}


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_options(name):
    """Every long option that the help shows, and no other."""
    known = parser()._subparsers._group_actions[0].choices[name]
    shown = {word.strip(",") for word in known.format_help().split() if word.startswith("--") and word != "--"}
    offered = after(f"bisimetric {name} --").words
    assert offered
    assert set(offered) <= shown
    assert "--save" not in offered
    assert all("\n" not in meaning and "\t" not in meaning for meaning in offered.values())


def test_options_are_offered_once():
    """Unless they may be repeated."""
    offered = after("bisimetric distance a b --discount 0.9 --set rounds=3 --").words
    assert "--discount" not in offered
    assert "--set" in offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bisimetric distance a b --solver pol", {"policy-iteration"}),
        ("bisimetric distance a b --solver=pol", {"policy-iteration"}),
        ("bisimetric distance a b --solver sinkhorn-bellman --set ro", {"rounds="}),
        ("bisimetric distance a b --pairs ", {"all", "reachable"}),
        ("bisimetric metric a --actions ma", {"matched"}),
        ("bisimetric convert a b --policy o", {"optimal"}),
        ("bisimetric distance four-rooms:p", {f"four-rooms:p{k}" for k in range(10)}),
        ("bisimetric states grid", {"grid-3x3"}),
        ("bisimetric reproduce heat", {"heat-map"}),
        ("bisimetric distance a b --discount ", set()),
        ("bisimetric distance a b c", set()),
        ("bisimetric solvers ", set()),
        ("bisimetric --install-completion z", {"zsh"}),
        ("bisimetric --inst", {"--install-completion"}),
        ("bisimetric distance a b --start x y 'four", set()),
    ],
)
def test_values(line, expected):
    """Of options and of arguments, in their places."""
    assert set(after(line).words) == expected


def test_environments_of_gymnasium(monkeypatch):
    """Those that are installed and have a transition table."""
    offered = set(after("bisimetric states gym:").words)
    assert {"gym:FrozenLake-v1", "gym:CliffWalking-v1"} <= offered
    assert "gym:Blackjack-v1" not in offered
    for name in offered:
        assert bm.as_mdp(name).n_states > 0
    monkeypatch.setitem(sys.modules, "gymnasium.envs.registration", None)
    assert not after("bisimetric states gym:").words


def test_all_solvers_and_environments():
    """Every name is offered, and every environment that is offered can be built."""
    assert set(after("bisimetric pairwise a --solver ").words) == set(solvers.SOLVERS)
    families = after("bisimetric distance ").words
    assert {entry.pattern.partition(":")[0].partition("[")[0] for entry in bm.environments.catalogue()} <= {
        word.rstrip(":") for word in families
    }
    for word in families:
        if not word.endswith(":"):
            assert bm.as_chain(word)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("bisimetric distance ", "files"),
        ("bisimetric distance a ", "files"),
        ("bisimetric distance a b --out ", "files"),
        ("bisimetric distance a b --cost ", "files"),
        ("bisimetric pairwise a b c ", "files"),
        ("bisimetric pairwise a --against b ", "files"),
        ("bisimetric convert a ", "files"),
        ("bisimetric pairwise a --store ", "folders"),
        ("bisimetric distance four-rooms:", "words"),
        ("bisimetric distance a b --tol ", "words"),
    ],
)
def test_files_and_folders(line, kind):
    """The shell is asked to add them where they fit."""
    assert after(line).kind == kind


def test_fish_completes_whole_words():
    """Behind --option= too."""
    assert set(after("bisimetric distance a b --solver=lin", "fish").words) == {"--solver=linear-program"}
    assert after("bisimetric distance a b --out=x", "fish").kind == "words"


def test_metavars_are_known():
    """Every kind of value that is completed stands for an argument of some command."""
    commands = parser()._subparsers._group_actions[0].choices.values()
    given = {action.metavar for command in commands for action in command._actions}
    assert set(VALUES) <= given


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a b", ["a", "b"]),
        ("a b ", ["a", "b", ""]),
        ("", [""]),
        ("a 'b c", ["a", "b c"]),
        ('a "b c', ["a", "b c"]),
    ],
)
def test_lines(line, words):
    """Unfinished quotes too."""
    assert split_line(line) == words


@pytest.mark.parametrize("shell", [*SHELLS, "other"])
def test_as_the_scripts_call_it(command, shell):
    """A line with the kind, then a line for each word; nothing on stderr."""
    ran = command("--complete", shell, *(["bisimetric dist"] if shell == "bash" else ["bisimetric", "dist"]))
    assert ran == (0, "words\ndistance\tThe certified distance between two chains\n", "")
    assert command("--complete").code == command("--complete", shell).code == 0


def test_completion_is_light():
    """Commands and options are completed without numpy."""
    code = (
        "import sys; from bisimetric.cli import main; main(['--complete', 'bash', 'bisimetric distance --s']);"
        "sys.exit(3 if 'numpy' in sys.modules else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120).returncode == 0
