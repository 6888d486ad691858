"""Distances between pairs of states for the page: the matrix, and each pair's bounds, cost, share and coupling.

A pair (x, y) goes by its number x·m + y. Up to MOST_BINS states per side the page has every pair. A longer side is
divided into bins of neighbouring states; the page then has the mean of every bin and two kinds of pairs: those with the
largest shares of the distance, and one for every bin.

A coupling keeps its largest cells: those that make up 95 % of its mass, and those that make up 95 % of its mean
distance, so that an unlikely move that matters stays visible. If that is too much for one file, the pairs that matter
most keep all of that and the others fewer; the page says how much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.text import printable
from bisimetric.errors import NotEnoughMemory
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats
from bisimetric.solving.game_solution import AnySolution, MDPSolution
from bisimetric.solving.solution import Solution

KEPT_MASS = 0.95  # of every coupling
SUM_ERROR = 1e-9  # relative, of sums over cells: a mass that is 95 % up to rounding is enough
MOST_BINS = 120  # rows and columns of the matrix
MOST_COUPLING_CELLS = 220_000  # of all couplings in the file; a cell takes 13 to 17 characters
MOST_COUPLING_CELLS_BINNED = 60_000
MOST_COUPLINGS_BINNED = 6000
MOST_MATRIX_CELLS = 20_000_000  # of all couplings together; where there are more, only some are read, pair by pair:
MOST_SINGLE_COUPLINGS = 1000
MOST_FOLLOWED = 20  # likely successors of a pair whose couplings are read next
ESTIMATED_FROM = 16  # pairs
FEW_DIGITS = 4  # of probabilities and shares
SHORT_DIGITS = 6  # of distances of pairs that are only mentioned

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Neighbouring states of one side that share a row or column of the matrix: edges[i] ≤ state < edges[i+1]."""

    edges: Ids

    @staticmethod
    def of(states: int) -> Bins:
        count = min(states, MOST_BINS)
        return Bins(np.arange(count + 1, dtype=np.int64) * states // count)

    @property
    def is_exact(self) -> bool:
        """Whether every bin is one state."""
        return int(self.edges[-1]) == len(self.edges) - 1

    def of_state(self) -> Ids:
        """The bin of every state."""
        return np.repeat(np.arange(len(self.edges) - 1), np.diff(self.edges))


def matrix_and_pairs(answer: AnySolution, shares: Floats, wanted: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the page shows as the matrix, and what it knows about pairs; the couplings of those `wanted` are there."""
    value = answer.value
    rows, columns = (Bins.of(length) for length in value.shape)
    matrix: dict[str, Any] = {"rows": rows.edges.tolist(), "columns": columns.edges.tolist(), "binned": False}
    if rows.is_exact and columns.is_exact:
        ids = np.arange(value.size)
        laws = held_laws(answer, ids, wanted)
        return matrix, pair_table(answer, shares, ids, laws, MOST_COUPLING_CELLS) | {"id": None}
    nearest = representatives(value, shares, rows, columns)
    binned = bin_statistics(value, answer.lower, answer.upper, rows, columns)
    matrix |= {"binned": True, "pair": nearest.tolist()} | {name: numbers(array) for name, array in binned.items()}
    top = np.argsort(-shares, axis=None, kind="stable")[:MOST_COUPLINGS_BINNED]
    ids = _in_order(np.array(wanted, np.int64), top[shares.ravel()[top] > 0], nearest[nearest >= 0])
    laws = held_laws(answer, ids[:MOST_COUPLINGS_BINNED], wanted)
    ids = _in_order(laws.numbers, ids)
    table = pair_table(answer, shares, ids, laws, MOST_COUPLING_CELLS_BINNED)
    return matrix, table | {"id": ids.tolist(), "others": _others(value, ids, table["cells"])}


def pair_table(answer: AnySolution, shares: Floats, ids: Ids, laws: Laws, most_cells: int) -> dict[str, Any]:
    """Numbers of the pairs `ids`, and the couplings of some of them; those of the others are None."""
    found: dict[str, Any] = {
        name: numbers(array.ravel()[ids])
        for name, array in (("value", answer.value), ("lower", answer.lower), ("upper", answer.upper))
    }
    found["cost"] = numbers(pair_costs(answer).ravel()[ids])
    found["share"] = rounded(shares.ravel()[ids]).tolist()
    cells = kept_cells(laws.rows, answer.value.ravel(), shares.ravel()[laws.numbers], most_cells)
    held = dict(zip(laws.numbers.tolist(), zip(cells, np.diff(laws.rows.indptr).tolist(), strict=True), strict=True))
    found["cells"] = [held[k][0] if k in held else None for k in ids.tolist()]
    found["count"] = [held[k][1] if k in held else None for k in ids.tolist()]
    if isinstance(answer, MDPSolution):
        found["actions"] = answer.decisive.reshape(-1, 2)[ids].tolist()
    return found


class Laws(NamedTuple):
    """Joint laws of the successors of some pairs."""

    numbers: Ids  # [pairs]
    rows: sparse.csr_array  # [pairs, n·m]


def held_laws(answer: AnySolution, ids: Ids, wanted: list[int]) -> Laws:
    """The couplings of the pairs `ids`; where all together are too large, of those that likely moves lead to."""
    if estimated_cells(answer) <= MOST_MATRIX_CELLS:
        try:
            return Laws(ids, sparse.csr_array(answer.coupling.matrix()[ids]))
        except NotEnoughMemory:
            pass
    found = list(dict.fromkeys(wanted))[:MOST_SINGLE_COUPLINGS]
    laws: list[sparse.csr_array] = []
    while len(laws) < len(found):  # likely successors join the list until it is full
        laws.append(_law(answer, found[len(laws)]))
        likely = laws[-1].indices[np.argsort(-laws[-1].data, kind="stable")[:MOST_FOLLOWED]].tolist()
        found = list(dict.fromkeys(found + likely))[:MOST_SINGLE_COUPLINGS]
    return Laws(np.array(found, np.int64), sparse.csr_array(sparse.vstack(laws, format="csr")))


def estimated_cells(answer: AnySolution) -> int:
    """How many cells the couplings of all pairs have together, from those of a few pairs."""
    some = np.unique(np.linspace(0, answer.value.size - 1, ESTIMATED_FROM).astype(np.int64)).tolist()
    return answer.value.size * sum(int(_law(answer, k).nnz) for k in some) // len(some)


def _law(answer: AnySolution, number: int) -> sparse.csr_array:
    """The joint law of the successors of one pair, [1, n·m]; empty where the pair was not solved or ends the game."""
    n, m = answer.value.shape
    x, y = divmod(number, m)
    stop = answer.problem.stop if isinstance(answer, Solution) else None
    if np.isnan(answer.value[x, y]) or (stop is not None and stop[x, y]):
        return sparse.csr_array((1, n * m))
    return sparse.csr_array(answer.coupling[x, y].reshape(1, n * m))


def kept_cells(laws: sparse.csr_array, values: Floats, shares: Floats, most_cells: int) -> list[list[float]]:
    """For every law its largest cells, largest first: number of the pair, probability, number, probability, …"""
    laws, n_rows = laws.sorted_indices(), laws.shape[0]
    rows = np.repeat(np.arange(n_rows), np.diff(laws.indptr))
    weight = laws.data
    by_weight, rank = _largest(rows, weight, n_rows)
    keep = by_weight | _largest(rows, weight * np.nan_to_num(values[laws.indices]), n_rows)[0]
    if np.count_nonzero(keep) > most_cells:  # a half for all pairs alike, the rest for those with the largest shares
        few = keep & (rank < max(1, most_cells // (2 * n_rows)))
        more = np.bincount(rows[keep & ~few], minlength=n_rows)
        important = np.argsort(-shares[:n_rows], kind="stable")
        whole = np.empty(n_rows, np.bool_)
        whole[important] = np.cumsum(more[important]) <= most_cells - np.count_nonzero(few)
        keep &= few | whole[rows]
    order = np.lexsort((-weight, rows))
    order = order[keep[order]]
    flat: list[float] = [0] * (2 * len(order))
    flat[::2], flat[1::2] = laws.indices[order].tolist(), rounded(weight[order]).tolist()
    ends = 2 * np.cumsum(np.bincount(rows[order], minlength=n_rows))
    return [flat[first:last] for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]


def _largest(rows: Ids, size: Floats, n_rows: int) -> tuple[npt.NDArray[np.bool_], Ids]:
    """Which cells are the fewest that make up KEPT_MASS of their row; and every cell's rank in its row."""
    order = np.lexsort((-size, rows))
    totals = np.bincount(rows, size, n_rows)
    before = np.cumsum(size[order]) - size[order]
    starts = np.searchsorted(rows[order], np.arange(n_rows))
    filled = before - before[np.minimum(starts, max(len(before) - 1, 0))][rows[order]] if len(before) else before
    keep, rank = np.zeros(len(rows), np.bool_), np.empty(len(rows), np.int64)
    keep[order] = (filled < (KEPT_MASS - SUM_ERROR) * totals[rows[order]]) & (size[order] > 0)
    rank[order] = np.arange(len(rows)) - starts[rows[order]]
    return keep, rank


def pair_costs(answer: AnySolution) -> Floats:
    """[n, m], the cost that a pair pays at once, with the factor 1-γ of a normalised problem."""
    if isinstance(answer, MDPSolution):
        game = answer.problem
        a, b = np.moveaxis(answer.decisive, 2, 0)
        mine = np.take_along_axis(game.source.rewards, a, axis=1)
        theirs = np.take_along_axis(game.target.rewards, b.T, axis=1).T
        costs: Floats = (1.0 - game.discount) * np.abs(mine - theirs)
        return costs
    return answer.problem.cost


def action_names(answer: AnySolution) -> list[list[str]] | None:
    """The actions of both processes, or None between chains."""
    models = [model for model in answer.models if isinstance(model, MDP)]
    return [[printable(mdp.action_name(a)) for a in range(mdp.n_actions)] for mdp in models] or None


def numbers(array: Floats) -> list[float | None]:
    """The numbers as they are; None for NaN, which JSON does not have."""
    return [None if number != number else number for number in array.ravel().tolist()]


def rounded(array: Floats) -> Floats:
    """Numbers from 0 to 1 with few digits."""
    safe = np.where(array > 0, array, 1.0)
    scale = 10.0 ** np.clip(FEW_DIGITS - 1 - np.floor(np.log10(safe)), 0, 22)  # powers of ten are exact up to there
    few: Floats = np.where(array > 0, np.round(safe * scale) / scale, 0.0)
    return few


def representatives(value: Floats, shares: Floats, rows: Bins, columns: Bins) -> Ids:
    """For every bin the pair with the largest share, of those the nearest; -1 where no pair was solved."""
    row, column = np.divmod(np.arange(value.size), value.shape[1])
    bins = rows.of_state()[row] * (len(columns.edges) - 1) + columns.of_state()[column]
    order = np.lexsort((np.nan_to_num(value.ravel(), nan=np.inf), -shares.ravel(), bins))
    first = order[np.searchsorted(bins[order], np.arange((len(rows.edges) - 1) * (len(columns.edges) - 1)))]
    nearest: Ids = np.where(np.isnan(value.ravel()[first]), -1, first)
    return nearest


def bin_statistics(value: Floats, lower: Floats, upper: Floats, rows: Bins, columns: Bins) -> dict[str, Floats]:
    """Mean value, smallest lower and largest upper bound of the solved pairs of every bin; NaN where there is none."""
    known = ~np.isnan(value)

    def over(kind: np.ufunc, array: npt.NDArray[Any]) -> Any:
        return kind.reduceat(kind.reduceat(array, rows.edges[:-1], axis=0), columns.edges[:-1], axis=1)

    count = over(np.add, known.astype(np.float64))
    with np.errstate(invalid="ignore"):
        mean = over(np.add, np.where(known, value, 0.0)) / np.where(count > 0, count, np.nan)
    low = over(np.minimum, np.where(known, lower, np.inf))
    high = over(np.maximum, np.where(known, upper, -np.inf))
    return {"value": mean, "low": np.where(count > 0, low, np.nan), "high": np.where(count > 0, high, np.nan)}


def _in_order(*parts: Ids) -> Ids:
    """All numbers, each where it comes first."""
    together = np.concatenate(parts)
    return together[np.sort(np.unique(together, return_index=True)[1])]


def _others(value: Floats, ids: Ids, cells: list[list[float] | None]) -> list[list[float | None]]:
    """Numbers and rounded values of pairs that couplings lead to but that are not among `ids`."""
    reached = np.unique(np.array([int(number) for law in cells for number in (law or [])[::2]], np.int64))
    outside = np.setdiff1d(reached, ids)
    short = [None if v != v else float(f"{v:.{SHORT_DIGITS}g}") for v in value.ravel()[outside].tolist()]
    return [outside.tolist(), short]
