"""Where text and JSON go."""

from __future__ import annotations

import json
import re
import sys

from rich.console import Console, RenderableType


def show(*parts: RenderableType) -> None:
    """Print on stdout: as wide as the terminal, 80 columns elsewhere, and in colour on terminals only.

    Text is taken literally, because names are data and not markup. rich only lays it out: on its own it would pad
    every line with spaces, and leave the process with code 1 when a pipe closes, which means something else here.
    """
    console = Console(markup=False, emoji=False, highlight=False)
    with console.capture() as laid_out:
        for part in parts:
            console.print(part)
    sys.stdout.write(re.sub(r" +$", "", laid_out.get(), flags=re.MULTILINE))


def print_json(document: object) -> None:
    """One JSON document, and nothing but JSON: no NaN, no infinity, plain ASCII."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
