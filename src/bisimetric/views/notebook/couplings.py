"""Couplings and potentials in notebooks, with the names of the states."""

from __future__ import annotations

from collections.abc import Iterator

from bisimetric.couplings.coupling import Coupling, Potentials
from bisimetric.couplings.joint_law import JointLaw
from bisimetric.couplings.long_run import LongRunPotentials
from bisimetric.couplings.timed import HorizonCoupling, HorizonPotentials
from bisimetric.solving.action_coupling import ActionCoupling, ActionPotentials
from bisimetric.views.notebook.markup import MOST_NUMBERS, HtmlBlock, Listing, Matrix, Note, Title


def coupling_blocks(coupling: Coupling | ActionCoupling | HorizonCoupling) -> Iterator[HtmlBlock]:
    """Where the first pairs lead, from the starts on."""
    yield Title(type(coupling).__name__)
    yield Listing(coupling.head(), coupling.rows())
    yield Note(coupling.summary())


def law_blocks(law: JointLaw) -> Iterator[HtmlBlock]:
    """A joint law: small ones as a matrix over the successors, others as a list of the largest probabilities."""
    yield Title(law.title())
    rows, columns = law.supports()
    if max(len(rows), len(columns)) <= MOST_NUMBERS:
        part, said = law.toarray()[rows][:, columns], "probabilities; rows are successors of the source"
        yield Matrix(part, lambda k: law.name_of(0, int(rows[k])), lambda k: law.name_of(1, int(columns[k])), said)
        return
    yield Listing(law.head(), law.rows())
    yield Note(law.summary())


def potential_blocks(
    potentials: Potentials | ActionPotentials | HorizonPotentials | LongRunPotentials,
) -> Iterator[HtmlBlock]:
    """The potentials of the first pair."""
    yield Title(type(potentials).__name__)
    yield Listing(potentials.head(), potentials.rows())
    yield Note(potentials.summary())
