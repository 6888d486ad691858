"""Curves by round for SVI and SPI, in two quantities; the experiments on m and on the step size share them.

    mean      (1-γ) times the mean of V^π over the stationary law of P⊗Q: what the authors' scripts show
    starts    V^π at the starts, not normalised

Three kinds of runs: the paper's, evaluated by the last couplings at every look; the same by the averaged occupancies,
which Algorithms 1 and 2 return and the theorems are about; and ours in two phases, which has to know its number of
rounds beforehand, so every point is a run of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bisimetric.experiments.rounds import (
    TRUTH,
    Approximate,
    at_starts,
    authors_mean,
    averaged_values,
    final_values,
    stationary_law,
    values,
)
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solve import solve

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure

MEAN, AT_STARTS = "mean", "starts"
PANELS_SIZE = (10.4, 6.6)  # inches

Curve = dict[str, list[Any]]  # rounds, and each quantity by round


class Compared:
    """A problem with its exact value, on which methods are compared."""

    def __init__(self, source: MarkovChain, target: MarkovChain, discount: float) -> None:
        self.problem = Problem(source, target, discount=discount)
        self.exact = solve(self.problem, tol=TRUTH)
        stationary = [chain.with_start(stationary_law(chain)) for chain in (source, target)]
        self.stationary = Problem(*stationary, discount=discount)

    def exact_numbers(self) -> dict[str, Any]:
        """Both quantities of the exact value."""
        return {
            MEAN: authors_mean(self.problem, self.exact.value),
            AT_STARTS: at_starts(self.problem, self.exact.value),
            "relative_gap": self.exact.relative_gap,
        }

    def last(self, solver: Approximate, looks: Sequence[int]) -> Curve:
        """The last couplings of one run."""
        return self._curve(values(self.problem, solver, looks, self.exact.value))

    def final(self, solver: Approximate, rounds: Sequence[int]) -> Curve:
        """The couplings at the end of runs of these numbers of rounds."""
        return self._curve(final_values(self.problem, solver, rounds, self.exact.value))

    def averaged(self, solver: Approximate, looks: Sequence[int]) -> Curve:
        """The averaged occupancies; they depend on where they start, so each quantity has its own run."""
        at = self._curve(averaged_values(self.problem, solver, looks, self.exact.value))
        mean = self._curve(averaged_values(self.stationary, solver, looks, self.exact.value))
        return {**at, MEAN: mean[MEAN]}

    def _curve(self, found: Iterable[tuple[int, Floats]]) -> Curve:
        curve: Curve = {"rounds": [], MEAN: [], AT_STARTS: []}
        for k, value in found:
            curve["rounds"].append(k)
            curve[MEAN].append(authors_mean(self.problem, value))
            curve[AT_STARTS].append(at_starts(self.problem, value))
        return curve


def draw_panels(
    curves: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    titles: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    exact: Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    log: tuple[bool, bool] = (True, False),
) -> Figure:
    """One row of panels per quantity (mean, starts), one column per method; nothing below the floors is shown."""
    from bisimetric import plot
    from bisimetric.views.figures import new_figure

    figure = new_figure(PANELS_SIZE)
    grid = figure.subplots(2, len(curves), sharey="row", squeeze=False)
    for panels, quantity in zip(grid, (MEAN, AT_STARTS), strict=True):
        for axes, (method, found) in zip(panels, curves.items(), strict=True):
            plot.curves(
                {name: (curve["rounds"], curve[quantity]) for name, curve in found.items()},
                exact=None if exact is None else exact[quantity],
                xlabel="rounds k" if quantity == AT_STARTS else "",
                ylabel=labels[quantity] if axes is panels[0] else "",
                title=f"{method}: {titles[quantity]}",
                log=log,
                ax=axes,
            )
            if axes is not grid[0][-1]:
                axes.get_legend().remove()
        if floors is not None:
            panels[0].set_ylim(bottom=floors[quantity])
    return figure
