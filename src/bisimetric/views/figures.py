"""The common parts of all pictures: figures and their files, colours, markers, texts, legends and colour bars.

matplotlib is imported when something is drawn, never before. Figures are made without pyplot, so they need no display
and are freed like other objects. Text from outside is data: mathematics and TeX in it are not interpreted, and
characters that are invisible or missing from the font are shown as escapes. The same figure gives the same file, byte
by byte, and a file appears complete or not at all.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric._support.text import LONGEST_NAME, escaped, printable
from bisimetric.errors import MissingExtra
from bisimetric.io.files import checked_path, write_file
from bisimetric.models.rows import Floats

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

# Okabe & Ito 2008: colour-blind readers tell them apart too. Without black, which is for references, and yellow, which
# is too faint for lines.
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
DASHES = ("-", "--", "-.", ":")
REFERENCE = "black"
WALL_GREY, GRID = "0.72", "0.88"  # greys
BLANK = "white"  # cells without a number
LUMINANCE = np.array([0.299, 0.587, 0.114])  # of red, green and blue
BRIGHT = 0.55  # text is black on colours of a larger luminance, white on others
DPI = 150
MARGIN = 0.12  # inches around axes; matplotlib's 0.04 is too little where both axes have the same scale
LETTER, NARROWEST = 0.08, 14  # inches of a letter in titles and labels; characters of the shortest line
LEFT_OF_AXES = 1.3  # inches that a figure may have to the left of its axes
LABEL_HEIGHT = 0.62  # inches below the axes for their ticks and a label of two lines
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}  # options of a text that is not interpreted
LONGEST_LINE, LONGEST_ENTRY = 100, 40  # characters of a title or label, and of a name in a legend
LONGEST_WRAPPED = 300  # characters of a title that is broken into lines
LONGEST_WHOLE = 10_000  # characters of a name that are looked at
COLOURED = (1e-30, 1e30)  # values whose largest size is outside of this range are rescaled before they are coloured

PICTURES = (".png", ".svg", ".pdf")
# A fixed salt makes the ids in SVG files the same every time. SVG files hold letters as outlines, which look the same
# everywhere; PDF files hold them as text.
SETTINGS: dict[Any, Any] = {"svg.hashsalt": "bisimetric", "svg.fonttype": "path", "pdf.fonttype": 42}
UNDATED: dict[str, dict[str, str | None]] = {
    ".png": {},
    ".svg": {"Date": None, "Creator": "bisimetric"},
    ".pdf": {"CreationDate": None, "Creator": "bisimetric"},
}


class Look(NamedTuple):
    """How one of several curves is drawn."""

    colour: str
    marker: str
    dashes: str


def look(k: int) -> Look:
    """The look of the k-th curve; the first 120 differ."""
    return Look(
        LINE_COLOURS[k % len(LINE_COLOURS)], MARKERS[k % len(MARKERS)], DASHES[k // len(LINE_COLOURS) % len(DASHES)]
    )


def require_matplotlib() -> None:
    """Raise MissingExtra, with the remedy, where matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtra("pictures need matplotlib, which is missing: pip install 'bisimetric[plot]'") from None


def new_figure(size: tuple[float, float]) -> Figure:
    """An empty figure of that size in inches."""
    require_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=size, dpi=DPI, layout=ConstrainedLayoutEngine(w_pad=MARGIN, h_pad=MARGIN))


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure of that size in inches."""
    if ax is None:
        return new_figure(size).add_subplot()
    require_matplotlib()
    from matplotlib.axes import Axes

    check_kind(ax, "ax", Axes, "a matplotlib Axes, or None for a new figure")
    return ax


def figure_of(axes: Axes) -> Figure:
    """The whole figure that the axes are in."""
    return axes.figure.figure


def save(figure: Figure, path: object) -> None:
    """Write a figure to a `.png`, `.svg` or `.pdf` file; the same figure always gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What a function of `bisimetric.plot` or `Solution.plot` returned.
    path : str or path
        The file. It appears complete or not at all; an existing file is replaced.

    Raises
    ------
    InvalidOption
        If `figure` is not a figure.
    FileFormatError
        If the name ends in something else, or the file cannot be written.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm, os, tempfile
    >>> figure = bm.distance("grid-3x3", "matching-four-rooms", discount=0.95).plot()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.plot.save(figure, os.path.join(folder, "rooms.svg"))
    ...     os.listdir(folder)
    ['rooms.svg']
    """
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    check_kind(figure, "figure", Figure, "a figure, as solution.plot() or a function of bisimetric.plot returns")
    place = checked_path(path, PICTURES)
    suffix = place.suffix.lower()

    def write(file: IO[bytes]) -> None:
        figure.savefig(file, format=suffix.removeprefix("."), metadata=UNDATED[suffix])

    with matplotlib.rc_context(SETTINGS):
        write_file(place, write)


def inert(text: object, longest: int = LONGEST_NAME) -> str:
    """The text as one line of at most `longest` visible characters; invisible ones become escapes."""
    from matplotlib.font_manager import FontProperties, findfont

    families = FontProperties().get_family()
    known = [_characters(str(findfont(FontProperties(family=[family])))) for family in families]
    line = printable(str(text), longest)
    line = "".join(char if any(ord(char) in font for font in known) else escaped(char) for char in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def shortened(name: object, longest: int) -> str:
    """The name in one line; of a long one both ends, because names often differ at their end."""
    return _both_ends(inert(name, LONGEST_WHOLE), longest)


def all_shortened(names: Sequence[object], longest: int) -> list[str]:
    """Names, each in one line; different ones with the same ends keep their beginning and where they differ."""
    whole = [inert(name, LONGEST_WHOLE) for name in names]
    found = [_both_ends(line, longest) for line in whole]
    alike: dict[str, set[str]] = {}
    for line, short in zip(whole, found, strict=True):
        alike.setdefault(short, set()).add(line)
    head = longest // 3
    apart = {short: max(_equal(group) - head // 2, head) for short, group in alike.items() if len(group) > 1}

    def told(tail: int) -> list[str]:
        return [
            _parts(line, head, apart[short], tail, longest) if short in apart else short
            for line, short in zip(whole, found, strict=True)
        ]

    return max(told(0), told(head), key=lambda texts: len(set(texts)))


def _equal(lines: set[str]) -> int:
    """How many characters the lines have in common before they begin to differ."""
    first, last = min(lines), max(lines)
    return next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))


def _parts(line: str, head: int, begin: int, tail: int, longest: int) -> str:
    """The head of the line, as much as there is room for from `begin` on, and the tail."""
    end = begin + longest - head - 2
    if end >= len(line):
        return f"{line[:head]}…{line[begin:]}"
    return f"{line[:head]}…{line[begin : end - tail]}…{line[len(line) - tail :]}"


def _both_ends(line: str, longest: int) -> str:
    return line if len(line) <= longest else f"{line[: longest - longest // 2 - 1]}…{line[-(longest // 2) :]}"


@lru_cache(maxsize=16)
def _characters(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())


def lines(text: object, longest: int = LONGEST_LINE) -> str:
    """The text line by line, each as `inert` shows it."""
    return "\n".join(inert(line, longest) for line in str(text).split("\n"))


def wrapped(text: object, inches: float) -> str:
    """The text line by line, each as `inert` shows it; lines that are longer than this are broken at spaces."""
    width = max(int(inches / LETTER), NARROWEST)
    found = lines(text, LONGEST_WRAPPED).split("\n")
    return "\n".join(textwrap.fill(line, width, break_long_words=False) for line in found)


def set_title(axes: Axes, title: str) -> None:
    """Set a title that is not interpreted, in lines that fit over the axes, or into the figure of single axes."""
    figure = figure_of(axes)
    alone = len(figure.axes) == 1
    inches = figure.get_figwidth() - LEFT_OF_AXES if alone else axes.get_window_extent().width / figure.dpi
    axes.set_title(wrapped(title, inches), loc="left", fontsize="medium", **LITERAL)


def set_texts(axes: Axes, *, title: str | None, xlabel: str, ylabel: str) -> None:
    """Set labels and title, which are not interpreted; with `title=None` the axes keep theirs."""
    if title is not None:
        set_title(axes, title)
    axes.set_xlabel(lines(xlabel), **LITERAL)
    axes.set_ylabel(lines(ylabel), **LITERAL)


def add_legend(axes: Axes, handles: Sequence[Artist], names: Sequence[object], *, below: bool = False) -> None:
    """Add a legend outside of the axes: to their right, or below their label.

    The names are set afterwards, because matplotlib drops names that begin with an underscore.
    """
    from matplotlib.transforms import ScaledTranslation

    lowered = axes.transAxes + ScaledTranslation(0, -LABEL_HEIGHT, figure_of(axes).dpi_scale_trans)
    place: dict[str, Any] = (
        {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": lowered, "ncols": min(len(names), 4)}
        if below
        else {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02)}
    )
    legend = axes.legend(list(handles), ["."] * len(handles), frameon=False, fontsize="small", **place)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=inert(name, LONGEST_ENTRY), **LITERAL)


def add_colour_bar(axes: Axes, image: Any, label: str, *, beside: float = 0.0) -> None:
    """Add a colour bar as high as the axes to their right, `beside` widths of the axes away."""
    bar = figure_of(axes).colorbar(image, cax=axes.inset_axes((1.03 + beside, 0.0, 0.045, 1.0)))
    box = axes.get_window_extent()
    height = min(box.height, box.width * axes.get_data_ratio()) if axes.get_aspect() == 1.0 else box.height
    inches = height / figure_of(axes).dpi
    said = label if len(label) * LETTER <= inches else label.replace(" (", "\n(", 1)  # the unit on a line of its own
    bar.set_label(wrapped(said, inches), **LITERAL)


def in_range(values: Floats, label: str) -> tuple[Floats, str]:
    """The values in a unit that colours can be computed from, and the label with this unit; NaN stays NaN."""
    if np.isnan(values).any():
        label = f"{label} ({BLANK}: not solved)"
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    if largest == 0.0 or COLOURED[0] <= largest <= COLOURED[1]:
        return values, label
    exponent = math.floor(math.log10(largest))
    half = exponent // 2  # two factors, because 10^-exponent alone may overflow
    return values * 10.0**-half * 10.0 ** (half - exponent), f"{label} (unit: 1e{exponent})"


def colour_image(axes: Axes, picture: np.ndarray[Any, Any], extent: tuple[float, float, float, float]) -> AxesImage:
    """Draw an array [rows, columns] in viridis without smoothing; masked cells are grey, NaN is blank."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    style: dict[str, Any] = {"extent": extent, "interpolation": "nearest", "aspect": "equal"}
    cmap = matplotlib.colormaps["viridis"].with_extremes(bad=WALL_GREY)
    image = axes.imshow(picture, cmap=cmap, **style)
    known = ~np.isnan(np.ma.getdata(picture))
    if not known.all():
        axes.imshow(np.ma.MaskedArray(known, known), cmap=ListedColormap([BLANK]), **style)
    return image
