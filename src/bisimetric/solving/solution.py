"""The answer: distances with their certified bounds, and the coupling that explains them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable, read_only
from bisimetric._support.text import discount_text
from bisimetric.certificates.certify import Certificate
from bisimetric.certificates.starts import StartTransport, between_starts
from bisimetric.couplings.coupling import Coupling, Potentials, Witness
from bisimetric.errors import MissingStart
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bisimetric.views.explanation import Explanation


class Status(Enum):
    """How a solve ended; the value is the message."""

    SOLVED = "the certified relative gap is within the tolerance"
    COMPLETED = "an approximate solver ran its rounds, or came to rest before; the interval says how close it is"
    STEP_LIMIT = "the step limit came before the tolerance was reached"
    STALLED = "rounding keeps the gap above the tolerance; more steps do not help"
    INTERRUPTED = "the solve was interrupted; the interval holds for the last finished sweep"


class Step(NamedTuple):
    """One line of a solve's history; `gap` is the solver's own belief, the certified one is the solution's.

    Sinkhorn solvers fill the other fields in the rounds that the checker looks at (1, 2, 4, 8, … and the last), as far
    as they have them: `violation_x` and `violation_y`, the largest 1-norm by which marginals are off; with
    output="average" `mean_cost`, which is above the value of the independent starts by the mean regret, and with
    constant steps besides
    the theorem's `regret_bound` on that difference and `error_bound` on the error of the output, for inner steps to
    convergence.
    """

    step: int
    gap: float  # as the solver believes it, in the units of the cost
    seconds: float  # since the solve began
    # What Sinkhorn solvers measure in the rounds that the checker looks at, None elsewhere:
    violation_x: float | None = None  # largest 1-norm by which source marginals are off; bounds the paper's δ_X
    violation_y: float | None = None  # the same for target marginals
    mean_cost: float | None = None  # Σ <μ_k, c>/(K(1-γ)), averaged output only; see above
    regret_bound: float | None = None  # the theorem's on that difference, for constant steps
    error_bound: float | None = None  # the theorem's on the error of the averaged output, for constant steps


class Model(Protocol):
    """What every solution knows of a chain or a decision process."""

    @property
    def start(self) -> Floats | None: ...

    @property
    def names(self) -> tuple[str, ...] | None: ...

    @property
    def n_states(self) -> int: ...


class Answer(Immutable):
    """What every solution says: distances between all states of two models, each inside a certified interval.

    Everything in it is read-only.
    """

    kind: ClassVar[str] = "chain"  # of model, in messages
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    tol: float | None  # relative gap that was aimed for; None where there was none, or a file does not tell

    @property
    def value(self) -> Floats:
        """[n, m], the best estimate of the distances, inside the interval and never negative; NaN if not solved."""
        return self.certificate.value

    @property
    def lower(self) -> Floats:
        """[n, m], no true distance is below."""
        return self.certificate.lower

    @property
    def upper(self) -> Floats:
        """[n, m], no true distance is above."""
        return self.certificate.upper

    @property
    def gap(self) -> float:
        """max(upper - lower) over the pairs that were solved."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """gap / max(upper)."""
        return self.certificate.relative_gap

    @property
    def distance(self) -> float:
        """The distance between the chains from their starts."""
        return self._starts.value

    @property
    def interval(self) -> tuple[float, float]:
        """Certified bounds on `distance`."""
        return self._starts.lower, self._starts.upper

    @property
    def reached_tol(self) -> bool:
        """Whether the certified relative gap is within the tolerance that was aimed for; true if there was none."""
        return self.tol is None or self.relative_gap <= self.tol

    def match(self) -> npt.NDArray[np.int64]:
        """[n], for every source state the target state at the smallest distance (the first of several).

        Pairs that were not solved are left out; -1 for a source state without any other.
        """
        value = self.value
        none = np.isnan(value)
        nearest: npt.NDArray[np.int64] = np.where(none, np.inf, value).argmin(axis=1)
        nearest[none.all(axis=1)] = -1
        return nearest

    def plot(self, *, axes: Axes | None = None) -> Figure:
        """Draw the distances: over the cells of two grids with starts, as a matrix otherwise."""
        from bisimetric.views.distances import distances

        return distances(self, axes=axes)

    def aimed_at(self, tol: float) -> Self:
        """The same, with the relative gap that was aimed for; 0 stands for none."""
        return replace(self, tol=tol or None)  # type: ignore[type-var]

    @property
    def models(self) -> tuple[Model, Model]:
        """The source and the target."""
        raise NotImplementedError

    @property
    def discounting(self) -> str:
        """The discount, and whether the distances are multiplied by 1-γ, in words."""
        raise NotImplementedError

    @cached_property
    def _starts(self) -> StartTransport:
        source, target = (model.start for model in self.models)
        for role, start in (("source", source), ("target", target)):
            if start is None:
                raise MissingStart(
                    f"the {role} {self.kind} has no start; use solution.value[x, y], "
                    f"or give the {self.kind} one: {self.kind}.with_start(state)"
                )
        assert source is not None
        assert target is not None
        return between_starts(self.certificate, source, target)

    def _facts(self) -> Sequence[tuple[str, str]]:
        n, m = self.value.shape
        facts = [("states", f"{n} x {m}"), ("discount", self.discounting)]
        unsolved = int(np.isnan(self.value).sum())
        if unsolved:
            facts.append(("pairs", f"{n * m - unsolved} of {n * m} solved, those that the starts lead to"))
        if all(model.start is not None for model in self.models):
            low, high = self.interval
            facts.append(("distance", f"{self.distance:.10g} in [{low:.10g}, {high:.10g}]"))
        else:
            facts.append(("largest", f"{self.value.max():.10g}"))
        missed = "" if self.reached_tol else f", wanted {self.tol:g}"
        facts.append(("status", f"{self.status.name}: relative gap {self.relative_gap:.1e}{missed}"))
        return facts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name} {text}' for name, text in self._facts())})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._facts())
        return f"<table>{rows}</table>"


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Answer):
    """Distances between all states of two chains, each inside a certified interval."""

    problem: Problem
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    witness: Witness
    checked_value: Floats  # [n, m], the value that was checked, times `scale`
    scale: float
    tol: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "certificate", self.certificate.published(self.problem.unsolved))
        object.__setattr__(self, "checked_value", read_only(self.checked_value))

    @property
    def coupling(self) -> Coupling:
        """The coupling whose value is `upper`'s proof: coupling[x, y] is the joint law of the successors."""
        return Coupling(self.problem, self.witness, self._start_law)

    @property
    def potentials(self) -> Potentials:
        """The potentials that prove `lower`."""
        return Potentials(self.problem, self.witness, self.checked_value, self.certificate.shortfall, self.scale)

    def explain(self, k: int = 10, *, start: object = None) -> Explanation:
        """The k state pairs that contribute most to the distance from the starts (or from the pair `start`)."""
        from bisimetric.views.explanation import explain

        return explain(self, k, start)

    def save(self, path: object) -> None:
        """Write the solution to a `.npz` or `.json` file; `bisimetric.load` reads it."""
        from bisimetric.io.save_load import save

        save(self, path)

    def _start_law(self) -> Floats:
        return self._starts.law(self.problem.shape)

    @property
    def models(self) -> tuple[Model, Model]:
        return self.problem.source, self.problem.target

    @property
    def discounting(self) -> str:
        kind = "normalised" if self.problem.normalised else "not normalised"
        return f"{discount_text(self.problem.discount)} ({kind})"
