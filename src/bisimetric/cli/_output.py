"""Files that a command is asked to write."""

from __future__ import annotations

import os
from pathlib import Path

from bisimetric.errors import InvalidOption
from bisimetric.io.files import SUFFIXES
from bisimetric.views.look import require_matplotlib
from bisimetric.views.saving import PICTURES


def check_output(path: str | None, option: str, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Before the work begins: afterwards hours of it would be lost."""
    if path is None:
        return
    file = Path(path)
    if file.suffix.lower() not in suffixes:
        raise InvalidOption(f"{option} is {path!r}, expected a file name that ends in {' or '.join(suffixes)}")
    if file.is_dir():
        raise InvalidOption(f"{option} is {path!r}, which is a folder, expected a file")
    if not file.parent.is_dir():
        raise InvalidOption(f"{option} is {path!r}, but the folder {str(file.parent)!r} does not exist; make it before")
    if not os.access(file.parent, os.W_OK):
        raise InvalidOption(f"{option} is {path!r}, but the folder {str(file.parent)!r} cannot be written to")


def check_picture(path: str | None, option: str) -> None:
    """The same for a picture, for which matplotlib has to be there too."""
    check_output(path, option, PICTURES)
    if path is not None:
        require_matplotlib()
