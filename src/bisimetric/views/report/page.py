"""From a solution to one HTML file.

The page is a fixed template. Its only variable part is JSON in a script element that browsers do not run, in which
every `<` is an escape, so no name can end the element or begin another. A content security policy lists the hashes of
the page's own scripts: nothing else runs, and nothing is loaded from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import IO

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.io.files import checked_path, write_file
from bisimetric.solving.game_solution import AnySolution, MDPSolution
from bisimetric.solving.solution import Solution
from bisimetric.views.report.library import chart_library
from bisimetric.views.report.payload import payload

REPORTS = (".html", ".htm")
PLACE = re.compile("@([A-Z]+)@")  # in the template
PAGE_SCRIPTS = ("charts.js", "page.js", "player.js")


def report(
    answer: AnySolution, path: object, *, names: tuple[str, str] | None = None, command: str | None = None
) -> None:
    """Write the page to a file, complete or not at all."""
    check_kind(answer, "solution", (Solution, MDPSolution), "a Solution or MDPSolution, which have couplings to show")
    texts = [*_two_names(names), command or ""]
    if not all(isinstance(text, str) for text in texts):
        raise InvalidOption(f"names and command are {names!r:.60} and {command!r:.60}, expected two texts and a text")
    place = checked_path(path, REPORTS)
    page = html(answer, names=names, command=command).encode()

    def write(file: IO[bytes]) -> None:
        file.write(page)

    write_file(place, write)


def html(answer: AnySolution, *, names: tuple[str, str] | None = None, command: str | None = None) -> str:
    """The whole page."""
    library = f"(() => {{{chart_library()}}})();"
    own = "\n".join(["'use strict';", *(_part(name) for name in PAGE_SCRIPTS)])
    policy = f"script-src 'unsafe-eval' {_hash(library)} {_hash(own)}"  # Vega compiles its expressions
    parts = {
        "POLICY": f"default-src 'none'; {policy}; style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'",
        "STYLE": _part("page.css"),
        "DATA": inert_json(payload(answer, names=names, command=command)),
        "LIBRARY": library,
        "SCRIPT": own,
    }
    return PLACE.sub(lambda place: parts[place[1]], _part("page.html"))  # one pass: texts are not looked at again


def inert_json(data: object) -> str:
    """JSON in ASCII without the characters that mean something in HTML."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _two_names(names: object) -> tuple[object, object]:
    if names is None:
        return "", ""
    if not isinstance(names, (tuple, list)) or len(names) != 2:
        raise InvalidOption(f"names is {names!r:.60}, expected the names of the two models")
    return names[0], names[1]


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
