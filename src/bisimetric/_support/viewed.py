"""What objects have in common for people: how notebooks show them, and of solutions a picture and a page to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bisimetric._support.lazy import method_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class InNotebooks:
    """An object that notebooks show as a small table or picture; `bisimetric.views.notebook` makes it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        page: str = method_above("InNotebooks._repr_html_")(self)
        return page


class Viewed(InNotebooks):
    """A solution that `bisimetric.views` can show."""

    __slots__ = ()

    def plot(self, *, axes: Axes | None = None) -> Figure:
        """Draw the distances: over the cells of two grids with starts, as a matrix otherwise.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Draw there instead of into a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            `bm.plot.save` writes it to a file.
        """
        figure: Figure = method_above("Viewed.plot")(self, axes=axes)
        return figure

    def report(self, path: object, *, names: tuple[str, str] | None = None, command: str | None = None) -> None:
        """Write a page to look at: all distances, couplings to walk along, both models moving together.

        One file that needs no network and opens in a browser by double click. The same solution gives the same file.

        Parameters
        ----------
        path : str or path
            An `.html` file. It appears complete or not at all; an existing file is replaced.
        names : (str, str), optional
            The names of the two models.
        command : str, optional
            The command that made the solution, for the last part of the page.

        Raises
        ------
        InvalidOption
            If the path does not end in `.html`, or the solution is of a kind that has no couplings to show.
        FileFormatError
            If the file cannot be written.
        MissingExtra
            If vl-convert-python or networkx is missing: `pip install 'bisimetric[plot]'`.

        Examples
        --------
        >>> import bisimetric as bm, os, tempfile
        >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     solution.report(os.path.join(folder, "rooms.html"), names=("p1", "p0"))
        ...     os.listdir(folder)
        ['rooms.html']
        """
        method_above("Viewed.report")(self, path, names=names, command=command)
