"""Figures as files: the same figure gives the same bytes, and a file appears complete or not at all."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from bisimetric._support.options import check_kind
from bisimetric.io.files import checked_path, write_file
from bisimetric.views.look import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")
# Ids in SVG are hashes with this salt instead of a random one; letters are drawn as outlines, so that they look
# the same everywhere; those in PDF stay letters.
SETTINGS: dict[Any, Any] = {"svg.hashsalt": "bisimetric", "svg.fonttype": "path", "pdf.fonttype": 42}
UNDATED: dict[str, dict[str, str | None]] = {
    ".png": {},
    ".svg": {"Date": None, "Creator": "bisimetric"},
    ".pdf": {"CreationDate": None, "Creator": "bisimetric"},
}


def save(figure: Figure, path: object) -> None:
    """Write a figure to a `.png`, `.svg` or `.pdf` file."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    check_kind(figure, "figure", Figure, "what a function of bisimetric.plot returns")
    place = checked_path(path, PICTURES)
    suffix = place.suffix.lower()

    def write(file: IO[bytes]) -> None:
        figure.savefig(file, format=suffix.removeprefix("."), metadata=UNDATED[suffix])

    with matplotlib.rc_context(SETTINGS):
        write_file(place, write)
