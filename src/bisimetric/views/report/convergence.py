"""How a solution was found: the solver's gap step by step, and the certified interval where the history has it.

Charts run over steps, not seconds, so the same question gives the same file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric.solving.history import Step
from bisimetric.solving.solution import Answer
from bisimetric.views.report.frame import ChartSection

MOST_SHOWN_STEPS = 2000  # of the history
FEW_STEPS = 12  # an axis with at most so many steps names each
GAP_TICKS = 6  # of an axis of gaps, one less
MANY_STEPS = 60  # an axis with more than so many steps is logarithmic


def convergence_charts(answer: Answer, *, wide: bool = False) -> list[ChartSection]:
    """The gap, perhaps over the whole width; and the certified interval, if the checker looked more than once."""
    steps = shown_steps(answer.history)
    looks = [step for step in answer.history if step.interval is not None]
    return [_gap_chart(answer, steps, wide), *([_interval_chart(looks)] if len(looks) > 1 else [])]


def shown_steps(history: tuple[Step, ...]) -> list[Step]:
    """Of a long history evenly spaced steps; without those whose gap is unknown or zero."""
    last = len(history) - 1
    chosen = np.unique(np.linspace(0, last, min(last + 1, MOST_SHOWN_STEPS)).astype(int)).tolist()
    return [history[k] for k in chosen if 0.0 < history[k].gap < np.inf]


def _gap_chart(answer: Answer, steps: list[Step], wide: bool) -> ChartSection:
    certified = f"The certified gap is {answer.gap:.3g}"
    points = [{"step": s.step, "gap": s.gap, "tip": [f"step {s.step}", f"gap {s.gap:.3g}"]} for s in steps]
    if not points:
        nothing = f"There was nothing to iterate. {certified}."
        return ChartSection("convergence", "How it was found", None, "", hint=nothing, wide=wide)
    y = _gap_axis([step.gap for step in steps] + [answer.gap])
    line = {"type": "line", "color": "--soft", "point": {"size": 45, "color": "--soft", "tooltip": True}}
    layers: list[Any] = [{"data": {"values": points}, "mark": line, "encoding": {"x": _step_axis(steps), "y": y}}]
    if answer.gap > 0.0:
        rule = {"type": "rule", "color": "--accent", "strokeDash": [5, 4], "strokeWidth": 1.5}
        layers.append({"data": {"values": [{"gap": answer.gap}]}, "mark": rule, "encoding": {"y": y}})
    return ChartSection(
        "convergence",
        "How it was found",
        {"height": 300, "layer": layers},
        label=f"Gap against step. {certified}.",
        hint=f"The gap between the bounds as the solver estimates it, step by step. {certified}"
        f"{' (dashed)' if answer.gap > 0.0 else ''}.",
        wide=wide,
    )


def _interval_chart(looks: list[Step]) -> ChartSection:
    points = []
    for look in looks:
        low, high = look.interval or (0.0, 0.0)
        tip = [f"step {look.step}", f"certified between {low:.6g} and {high:.6g}"]
        points.append({"step": look.step, "low": low, "high": high, "value": look.distance, "tip": tip})
    x = _step_axis(looks)
    y = {"field": "low", "type": "quantitative", "title": "distance", "scale": {"zero": False}}
    last = points[-1]
    spec = {
        "height": 260,
        "data": {"values": points},
        "encoding": {"x": x},
        "layer": [
            {"mark": {"type": "area", "color": "--bar", "opacity": 0.6}, "encoding": {"y": y, "y2": {"field": "high"}}},
            {"mark": {"type": "rule", "color": "--soft"}, "encoding": {"y": y, "y2": {"field": "high"}}},
            {"mark": {"type": "line", "color": "--accent"}, "encoding": {"y": y | {"field": "value"}}},
            {
                "mark": {"type": "point", "color": "--accent", "filled": True, "size": 45, "tooltip": True},
                "encoding": {"y": y | {"field": "value"}},
            },
        ],
    }
    return ChartSection(
        "interval-by-step",
        "The certified interval, step by step",
        spec,
        label=f"Certified interval against step; at last from {last['low']:.6g} to {last['high']:.6g}.",
        hint="What was proved about the distance between the starts when the checker looked, and the estimate (line).",
        wide=True,
    )


def _step_axis(steps: list[Step]) -> dict[str, Any]:
    ticks = {"values": [step.step for step in steps]} if len(steps) <= FEW_STEPS else {}
    scale = {"type": "log"} if steps[-1].step > MANY_STEPS else {"zero": False}
    axis = {"format": "d", "grid": False, "labelOverlap": "greedy", **ticks}
    return {"field": "step", "type": "quantitative", "title": "step", "scale": scale, "axis": axis}


def _gap_axis(gaps: list[float]) -> dict[str, Any]:
    """A logarithmic axis over whole powers of ten, with a few of them as ticks."""
    logs = np.log10([gap for gap in gaps if gap > 0.0])
    low, high = int(np.floor(logs.min())), int(np.ceil(logs.max()))
    ticks = [float(f"1e{k}") for k in range(low, high + 1, max(1, -(-(high - low) // GAP_TICKS)))]
    axis = {"format": ".0e", "values": ticks}
    scale = {"type": "log", "domain": [float(f"1e{low}"), float(f"1e{max(high, low + 1)}")], "nice": False}
    return {"field": "gap", "type": "quantitative", "title": "gap", "scale": scale, "axis": axis}
