"""`--install-completion` and `--show-completion`: the script of a shell, printed or put where the shell finds it.

A script is a file of its own. bash and zsh get one line at the end of their start file, if it is not there already;
nothing else in that file is touched. fish looks into a folder of its own.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import IO, NamedTuple

from bisimetric._support.text import printable
from bisimetric.cli.completion.candidates import SHELLS
from bisimetric.cli.completion.scripts import SCRIPTS
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.io.files import described, write_file

MARK = "# completion of bisimetric"


class Places(NamedTuple):
    """Where the script of a shell goes, and the start file that reads it; None where the shell finds it alone."""

    script: Path
    start: Path | None


def show_completion(shell: str | None) -> None:
    """Print the script of a shell."""
    sys.stdout.write(SCRIPTS[known_shell(shell, "--show-completion")])


def install_completion(shell: str | None) -> None:
    """Write the script of a shell, and say what was done."""
    name = known_shell(shell, "--install-completion")
    places = places_of(name)
    try:
        places.script.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(described(places.script.parent, f"cannot be made: {error.strerror}")) from None

    def write(file: IO[bytes]) -> None:
        file.write(SCRIPTS[name].encode("ascii"))

    write_file(places.script, write)
    said = [f"wrote {places.script}"]
    if places.start is not None:
        line = f"[ -r {shlex.quote(str(places.script))} ] && . {shlex.quote(str(places.script))}  {MARK}"
        added = _add_line(places.start, line)
        said.append(f"{'added a line to' if added else 'its line is already in'} {places.start}")
    said.append(f"open a new {name}, or run: source {shlex.quote(str(places.script))}")
    sys.stdout.write("".join(f"{printable(line, None)}\n" for line in said))


def known_shell(shell: str | None, option: str) -> str:
    """The shell that is named, or the one that runs, by the variable SHELL."""
    name = Path(os.environ.get("SHELL", "")).name if shell is None else shell
    if name in SHELLS:
        return name
    was = f"{option} is {name!r}" if shell is not None else f"the variable SHELL is {os.environ.get('SHELL', '')!r}"
    raise InvalidOption(f"{was}, expected {', '.join(SHELLS)}; write `bisimetric {option} bash`")


def places_of(shell: str) -> Places:
    """Where a shell looks for completions and start files, by its own variables."""
    try:
        home = Path.home()
    except RuntimeError:
        raise InvalidOption("there is no home folder; `bisimetric --show-completion SHELL` prints the script") from None
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    if shell == "bash":
        folder = Path(os.environ.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion")
        return Places(folder / "completions" / "bisimetric", home / ".bashrc")
    if shell == "zsh":
        return Places(data / "bisimetric" / "completion.zsh", Path(os.environ.get("ZDOTDIR") or home) / ".zshrc")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return Places(config / "fish" / "completions" / "bisimetric.fish", None)


def _add_line(start: Path, line: str) -> bool:
    """Append the line to a start file unless it is there; the file keeps its content, its mode and its links."""
    try:
        text = start.read_bytes() if start.exists() else b""
        if line.encode() in text.splitlines():
            return False
        with open(start, "ab") as file:
            file.write(b"" if not text or text.endswith(b"\n") else b"\n")
            file.write(line.encode() + b"\n")
    except OSError as error:
        raise FileFormatError(
            described(start, f"cannot be changed: {error.strerror}; add this line yourself: {line}")
        ) from None
    return True
