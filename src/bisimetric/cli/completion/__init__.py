"""Completion in shells: what can follow on a command line, the scripts that ask for it, and how they are installed.

    bisimetric --complete SHELL WORD …      prints what the last word may become; the scripts call it
    bisimetric --show-completion SHELL      prints the script
    bisimetric --install-completion SHELL   writes it where the shell finds it

The scripts hold no names: they ask the command, so they stay right when it changes. Only the standard library is
imported at module level; solvers and environments are imported when one of their names is completed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bisimetric.cli.completion.candidates import complete

if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = ["COMPLETE", "print_completions"]

COMPLETE = "--complete"


def print_completions(parser: ArgumentParser, arguments: list[str]) -> None:
    """Print the kind of completion and a line per word: the word, a tab, what it is."""
    import sys

    shell, *words = arguments or ["bash"]
    found = complete(parser, words, shell)
    sys.stdout.write(f"{found.kind}\n" + "".join(f"{word}\t{meaning}\n" for word, meaning in found.words.items()))
