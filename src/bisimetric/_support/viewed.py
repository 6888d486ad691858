"""What objects have in common for people: how notebooks show them, pictures, and of solutions a page to look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    def plot(self, *, names: Sequence[str] | None = None, ax: Axes | None = None) -> Figure:
        """Draw the distances, as fits the models: `bm.plot.distances(solution)`.

        Two grids with starts on their maps, a model with itself as its states at their distances, others as a matrix.
        `bm.plot` has more pictures: `matrix`, `coupling`, `mds`, `dendrogram`, `convergence`.

        Parameters
        ----------
        names : (str, str), optional
            The names of the two models, for titles; by default where they come from.
        ax : matplotlib Axes, optional
            Draw there instead of into a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            `bm.plot.save` writes it to a file.
        """
        figure: Figure = method_above("Viewed.plot")(self, names=names, ax=ax)
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


class PlottedTable:
    """A table of distances that `bisimetric.views` can draw."""

    __slots__ = ()

    def plot(self, *, names: Iterable[object] | None = None, ax: Axes | None = None) -> Figure:
        """Draw the chains as points at about these distances, or the matrix of two different lists of chains.

        `bm.plot.matrix`, `bm.plot.mds` and `bm.plot.dendrogram` take the table as well.

        Parameters
        ----------
        names : iterable of N names, or (N names, M names), optional
            The names of the chains.
        ax : matplotlib Axes, optional
            Draw there instead of into a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            `bm.plot.save` writes it to a file.
        """
        figure: Figure = method_above("PlottedTable.plot")(self, names=names, ax=ax)
        return figure


class PlottedAggregation:
    """A smaller model that `bisimetric.views` can draw."""

    __slots__ = ()

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Draw which states were merged: `bm.plot.aggregation(self)`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Draw there instead of into a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            `bm.plot.save` writes it to a file.
        """
        figure: Figure = method_above("PlottedAggregation.plot")(self, ax=ax)
        return figure


class PlottedExplanation:
    """Parts of a distance that `bisimetric.views` can draw."""

    __slots__ = ()

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Draw the parts as bars: `bm.plot.explanation(self)`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Draw there instead of into a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            `bm.plot.save` writes it to a file.
        """
        figure: Figure = method_above("PlottedExplanation.plot")(self, ax=ax)
        return figure


class PlottedPath:
    """A way of two coupled models that `bisimetric.views` can draw."""

    __slots__ = ()

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Draw the way step by step, and on the maps of the models: `bm.plot.path(self)`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Draw the steps there instead of into a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            `bm.plot.save` writes it to a file.
        """
        figure: Figure = method_above("PlottedPath.plot")(self, ax=ax)
        return figure
