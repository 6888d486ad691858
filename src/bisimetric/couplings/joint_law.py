"""One joint law of successors: a sparse matrix that knows which states it is about, and prints their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from bisimetric._support.text import printable, text_table
from bisimetric._support.viewed import InNotebooks
from bisimetric.kernels.layout import Cells
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats, Ints, Mask

MOST_LAW_ROWS = 20  # cells of one law that are printed
MOST_CELLS_PER_PAIR = 4  # the same where several laws are printed
SHOWN_PAIRS = 3  # laws of a coupling that are printed
EQUAL_DIGITS = 12  # after the point, up to which probabilities are equal for the order of a table
LAW_HEAD = ("next source", "next target", "probability")
COUPLING_HEAD = ("source", "target", *LAW_HEAD)
POTENTIALS_HEAD = ("source", "target", "side", "successor", "potential")

StatePair = tuple[int, int]


class JointLaw(InNotebooks, sparse.csr_array):  # type: ignore[misc]
    """A scipy.sparse.csr_array [n, m] that prints as a table with the names of the states.

    What is computed from it, such as its transpose, is printed as scipy does.
    """

    _models: tuple[Model, Model] | None = None
    _pair: StatePair = (0, 0)
    _actions: tuple[str, str] | None = None

    @classmethod
    def of(
        cls,
        models: tuple[Model, Model],
        pair: StatePair,
        successors: tuple[Ints, Ints],
        cells: Cells,
        actions: tuple[str, str] | None = None,
    ) -> JointLaw:
        """The joint law of the successors of a pair, from the cells of its coupling."""
        places = successors[0][cells.left], successors[1][cells.right]
        law = cls((cells.weight, places), shape=tuple(model.n_states for model in models))
        law._models, law._pair, law._actions = models, pair, actions
        return law

    def name_of(self, side: int, state: int) -> str:
        """The name of a state of the source (side 0) or of the target."""
        return str(state) if self._models is None else self._models[side].name_of(state)

    def supports(self) -> tuple[Ints, Ints]:
        """The successors on both sides that have a probability."""
        cells = self.tocoo()
        held = cells.data > 0.0
        return np.unique(cells.row[held]), np.unique(cells.col[held])

    def title(self) -> str:
        """What the law is about."""
        x, y = (printable(self.name_of(side, state)) for side, state in enumerate(self._pair))
        under = "" if self._actions is None else " under {} and {}".format(*map(printable, self._actions))
        return f"successors of {x} and {y}{under}"

    def head(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return LAW_HEAD

    def rows(self, most: int = MOST_LAW_ROWS) -> list[tuple[str, ...]]:
        """The likeliest pairs of successors and their probabilities as text."""
        return [(*self._names(x, y), f"{probability:.6g}") for x, y, probability in self.likeliest(most)]

    def likeliest(self, most: int) -> list[tuple[int, int, float]]:
        """The pairs of successors with the largest probabilities, largest first, and those."""
        cells = self.tocoo()
        order = np.lexsort((cells.col, cells.row, -cells.data.round(EQUAL_DIGITS)))[:most]
        return [(int(cells.row[k]), int(cells.col[k]), float(cells.data[k])) for k in order if cells.data[k] > 0.0]

    def summary(self) -> str:
        """How many cells are not printed."""
        more = int((self.data > 0.0).sum()) - MOST_LAW_ROWS
        return f"… and {more} more" if more > 0 else ""

    def _names(self, x: int, y: int) -> tuple[str, str]:
        return printable(self.name_of(0, x)), printable(self.name_of(1, y))

    def pair_names(self) -> tuple[str, str]:
        """The names of the two states whose successors these are."""
        return self._names(*self._pair)

    def __repr__(self) -> str:
        if self._models is None:
            return str(super().__repr__())
        lines = [self.title(), text_table(self.head(), self.rows()), self.summary()]
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        return str(super().__str__()) if self._models is None else repr(self)

    def _repr_html_(self) -> Any:
        return None if self._models is None else super()._repr_html_()


def first_laws(start: StatePair, law_at: Callable[[StatePair], JointLaw]) -> list[JointLaw]:
    """The laws of a few pairs: of one, and of those that it leads to, the likeliest first."""
    known: list[StatePair] = [start]
    laws: list[JointLaw] = []
    while len(laws) < min(len(known), SHOWN_PAIRS):
        laws.append(law_at(known[len(laws)]))
        following = [(x, y) for x, y, _ in laws[-1].likeliest(MOST_CELLS_PER_PAIR)]
        known += [pair for pair in following if pair not in known]
    return laws


def coupling_rows(laws: list[JointLaw]) -> list[tuple[str, ...]]:
    """The cells of some laws as one table, the pair itself in the first row of each."""
    table: list[tuple[str, ...]] = []
    for law in laws:
        rows = law.rows(MOST_CELLS_PER_PAIR) or [("nothing follows", "", "")]
        more = int((law.data > 0.0).sum()) - len(rows)
        rows += [(f"… {more} more", "", "")] if more > 0 else []
        pairs = [law.pair_names(), *[("", "")] * (len(rows) - 1)]
        table += [(*pair, *row) for pair, row in zip(pairs, rows, strict=True)]
    return table


def potential_rows(
    models: tuple[Model, Model], pair: StatePair, successors: tuple[Ints, Ints], potentials: tuple[Floats, Floats]
) -> list[tuple[str, ...]]:
    """The potentials of one pair as a table, the pair itself in the first row; those of many successors in part."""
    named = zip(("f, source", "g, target"), models, successors, potentials, strict=True)
    rows = [
        (side, printable(model.name_of(int(state))), f"{number:.6g}")
        for side, model, states, numbers in named
        for state, number in list(zip(states, numbers, strict=True))[: MOST_LAW_ROWS // 2]
    ]
    names = tuple(printable(model.name_of(state)) for model, state in zip(models, pair, strict=True))
    return [(*(names if k == 0 else ("", "")), *row) for k, row in enumerate(rows)]


def first_pair(models: tuple[Model, Model], unsolved: Mask | None = None) -> StatePair:
    """The likeliest starts of both models, else their first states; of pairs that were solved."""
    x, y = (0 if model.start is None else int(model.start.argmax()) for model in models)
    if unsolved is None or not unsolved[x, y]:
        return x, y
    x, y = divmod(int(np.argmin(unsolved)), unsolved.shape[1])
    return x, y
