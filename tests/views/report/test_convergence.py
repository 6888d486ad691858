"""How a solution was found, as charts."""

from __future__ import annotations

import bisimetric as bm
from bisimetric.views.report import convergence as module
from bisimetric.views.report.convergence import convergence_charts
from tests.views.report.models import protocol, protocols


def points(chart):
    """What a chart shows first."""
    return (chart.spec["layer"][0].get("data") or chart.spec["data"])["values"]


def test_the_gap_of_every_step_and_the_certified_one():
    """The solver's own numbers."""
    solution = protocols()
    (chart,) = convergence_charts(solution)
    assert [(point["step"], point["gap"]) for point in points(chart)] == [(s.step, s.gap) for s in solution.history]
    assert chart.spec["layer"][1]["data"]["values"] == [{"gap": solution.gap}]
    assert f"{solution.gap:.3g}" in chart.hint


def test_certified_intervals_where_the_history_has_them():
    """One for every look of the checker."""
    problem = bm.Problem(protocol(0.05), protocol(0.2), discount=0.9)
    solution = bm.solve(problem, bm.ValueIteration(), tol=1e-3, look_every=2)
    chart = convergence_charts(solution)[1]
    looks = [step for step in solution.history if step.interval is not None]
    assert [(point["low"], point["high"]) for point in points(chart)] == [step.interval for step in looks]
    assert len(looks) > 3


def test_a_long_history_is_thinned(monkeypatch):
    """The first and the last step stay."""
    monkeypatch.setattr(module, "MOST_SHOWN_STEPS", 3)
    solution = bm.distance(protocol(0.1), protocol(0.2), discount=0.9, solver="value-iteration")
    steps = [point["step"] for point in points(convergence_charts(solution)[0])]
    assert len(steps) == 3
    assert (steps[0], steps[-1]) == (1, len(solution.history))


def test_nothing_to_iterate():
    """Equal chains without a cost."""
    chain = bm.MarkovChain([[1.0]], reward=[0.0], start=0)
    (chart,) = convergence_charts(bm.distance(chain, chain, discount=0.5))
    assert chart.spec is None
    assert "nothing" in chart.hint
