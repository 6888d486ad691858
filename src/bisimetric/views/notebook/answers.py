"""Answers in notebooks: the certified numbers, and all distances as a thumbnail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bisimetric._support.text import printable
from bisimetric.bisimulation.aggregation import Aggregation
from bisimetric.certificates.interval import Certificate
from bisimetric.couplings.gradient import Derivatives
from bisimetric.learning.reduction import Reduction
from bisimetric.many.table import Distances
from bisimetric.solving.solution import Answer
from bisimetric.views.notebook.markup import Facts, HtmlBlock, Listing, Matrix, Note, Title
from bisimetric.views.notebook.models import SHOWN_STATES


def answer_blocks(answer: Answer) -> Iterator[HtmlBlock]:
    """The facts of a solution, and all distances."""
    yield Title(type(answer).__name__)
    yield Facts(answer._facts())
    source, target = answer.models
    yield Matrix(answer.value, source.name_of, target.name_of, "distances, source by target")


def certificate_blocks(certificate: Certificate) -> Iterator[HtmlBlock]:
    """How wide the bounds are, and the estimates."""
    yield Title("Certificate")
    yield Facts(
        [
            ("shape", " x ".join(map(str, certificate.value.shape))),
            ("largest", f"at most {float(np.fmax.reduce(certificate.upper, axis=None)):.10g}"),
            ("gap", f"{certificate.gap:.3g}"),
            ("relative gap", f"{certificate.relative_gap:.1e}"),
        ]
    )
    if certificate.value.ndim == 2:
        yield Matrix(certificate.value, str, str, "estimates inside the bounds")


def table_blocks(distances: Distances) -> Iterator[HtmlBlock]:
    """A table of distances between chains."""
    yield Title("Distances")
    n, m = distances.value.shape
    facts = [("chains", f"{n} x {m}"), ("largest", f"{distances.value.max():.6g}"), ("gap", f"{distances.gap:.1e}")]
    yield Facts([*facts, ("status", distances.ending())])
    yield Matrix(distances.value, str, str, "distances between chains")


def aggregation_blocks(found: Aggregation[Any]) -> Iterator[HtmlBlock]:
    """The bounds, and which states are merged."""
    yield Title(type(found).__name__)
    yield Facts(found.facts())
    members = [np.flatnonzero(found.map == k) for k in range(found.model.n_states)]
    order = sorted(range(len(members)), key=lambda k: (-len(members[k]), k))
    rows = []
    for k in order[:SHOWN_STATES]:
        states = ", ".join(map(str, members[k][:SHOWN_STATES].tolist()))
        rows.append((printable(found.model.name_of(k)), str(len(members[k])), states + _dots(members[k])))
    yield Listing(("cluster", "states", "numbers of the states"), rows)
    if len(order) > SHOWN_STATES:
        yield Note(f"… and {len(order) - SHOWN_STATES} more clusters, none of them larger")


def gradient_blocks(gradient: Derivatives) -> Iterator[HtmlBlock]:
    """Whether there may be a kink, and how often the coupled chains visit every pair."""
    yield Title(type(gradient).__name__)
    yield Facts(gradient.facts())
    yield Matrix(gradient.cost, str, str, "derivatives by the cost, source by target")


def reduction_blocks(found: Reduction) -> Iterator[HtmlBlock]:
    """The certified distance, and the soft map between the states."""
    yield Title("Reduction")
    yield Facts(found.facts())
    yield Matrix(found.map, str, str, "where the small chain is while the original is in a state")


def _dots(states: Any) -> str:
    return ", …" if len(states) > SHOWN_STATES else ""
