"""The methods of the experiments: the settings of the authors' scripts, and ladders of settings to search.

A ladder has sixteen settings (SVI, SPI) or twenty (the baselines), and `search.py` finds for each how many rounds it
needs. SVI and SPI vary the step rule, m, and one or two phases; the baselines vary the smoothing and the projections
(EntropicOTC also the evaluations) a round. In the ladders the baselines keep their scalings from round to round, which
the paper says would make them competitive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from bisimetric.experiments.rounds import Approximate
from bisimetric.solvers import (
    EntropicPolicyIteration,
    SinkhornBellman,
    SinkhornPolicyIteration,
    SinkhornValueIteration,
)
from bisimetric.solvers.sinkhorn.step_size import Decaying

SVI, SPI, DWL, OTC = "SVI", "SPI", "dWL", "EntropicOTC"
FINE, CRUDE = "exact, 1e-6", "exact, 1 %"  # ours, to a certified relative gap
TOLERANCES = {FINE: 1e-6, CRUDE: 1e-2}
METHODS = (SVI, SPI, DWL, OTC)
PROPOSED = {SVI: SinkhornValueIteration, SPI: SinkhornPolicyIteration}  # those that the paper proposes
AVERAGED, OURS = "averaged", "ours (default)"  # output of the paper's runs; two phases from 200 rounds on

# The authors' script for running times: SPI's steps decay there, SVI's do not.
PAPER: Mapping[str, Approximate] = {
    SVI: SinkhornValueIteration.as_in_paper(step_size=1.0, rounds=500),
    SPI: SinkhornPolicyIteration.as_in_paper(step_size=Decaying(1.0), rounds=500),
    DWL: SinkhornBellman(regularisation=0.01, rounds=1000, projections=100, warm_start=False),
    OTC: EntropicPolicyIteration(sharpness=200.0, rounds=100, evaluation_steps=1000, projections=100, warm_start=False),
}


class Setting(NamedTuple):
    """A method with its options, but for the number of rounds; in two phases two thirds of them only project."""

    solver: Approximate
    phases: bool = False

    def with_rounds(self, rounds: int) -> Approximate:
        """The solver that runs so many rounds."""
        split = {"projections": 2 * rounds // 3} if self.phases else {}
        return replace(self.solver, rounds=rounds, **split)  # type: ignore[call-arg]

    @property
    def needs_rounds(self) -> bool:
        """Whether a run has to know its number of rounds beforehand, as one in two phases does."""
        return self.phases or getattr(self.solver, "projections", 0) is None


def _proposed(method: str) -> dict[str, Setting]:
    solver = PROPOSED[method]
    found = {OURS: Setting(solver())}
    for eta in (1.0, 10.0, 100.0):
        found[f"η = {eta:g}"] = Setting(solver.as_in_paper(step_size=eta))
    for eta in (1.0, 3.0, 10.0, 30.0, 100.0):
        found[f"η = {eta:g}/√k"] = Setting(solver.as_in_paper(step_size=Decaying(eta)))
    for eta in (10.0, 30.0):
        found[f"η = {eta:g}/√k, m = 5"] = Setting(solver.as_in_paper(step_size=Decaying(eta), inner_steps=5))
    for m in (1, 3):
        found[f"two phases, m = {m}"] = Setting(solver(inner_steps=m), phases=True)
    for eta in (3.0, 10.0, 30.0):
        found[f"two phases, η = {eta:g}"] = Setting(solver(step_size=eta), phases=True)
    return found


LADDERS: Mapping[str, Mapping[str, Setting]] = {
    SVI: _proposed(SVI),
    SPI: _proposed(SPI),
    DWL: {
        f"ε = {epsilon:g}, {projections} projections": Setting(
            SinkhornBellman(regularisation=epsilon, projections=projections)
        )
        for epsilon in (0.1, 0.03, 0.01, 0.003, 0.001)
        for projections in (4, 10, 30, 100)
    },
    OTC: {
        f"ξ = {xi:g}, {projections} projections, {steps} evaluations": Setting(
            EntropicPolicyIteration(sharpness=xi, projections=projections, evaluation_steps=steps)
        )
        for xi in (10.0, 30.0, 100.0, 300.0, 1000.0)
        for projections, steps in ((10, 5), (30, 5), (100, 5), (30, 50))
    },
}


def options(solver: Any) -> dict[str, Any]:
    """The options of a solver by name, as texts where they are neither numbers nor texts."""
    given = {field.name: getattr(solver, field.name) for field in fields(solver)}
    return {name: one if isinstance(one, (int, float, str, type(None))) else str(one) for name, one in given.items()}
