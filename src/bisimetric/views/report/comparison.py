"""The page of a comparison of two logs: what chance alone makes, the three statements, what changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric._support.text import discount_text, printable
from bisimetric.errors import InvalidOption
from bisimetric.estimation.changed import Transition
from bisimetric.estimation.comparison import Comparison
from bisimetric.views.comparison import null_bins
from bisimetric.views.report.frame import ChartSection, Headline, Page, TableSection

MOST_CHANGES = 50  # transitions and states in tables
MOST_CHARTED = 20  # transitions in the chart


def comparison_page(answer: Comparison, *, names: object = None, command: str | None = None) -> Page:
    """The page of a comparison."""
    first, second = _checked_names(names)
    verdict = "Behaviour changed" if answer.is_change else "No change of the whole can be seen"
    return Page(
        title=f"{first} and {second}",
        headline=Headline.words(verdict, f"distance {answer.distance:.4g}, p = {answer.p_value:.2g}"),
        meaning=answer.sentence,
        facts=[[name[0].upper() + name[1:], text] for name, text in answer.facts()],
        sections=[
            _null_section(answer),
            _changes_chart(answer),
            _statements(answer),
            _changes_table(answer, first, second),
            _states_table(answer),
        ],
        python=[
            f"# a, b: the logs {first} and {second}, from bm.from_trajectories",
            f"comparison = bm.compare(a, b, discount={answer.discount!r}, resamples={answer.resamples}, "
            f"seed={answer.seed})",
            'comparison.report("report.html")',
        ],
        command=command,
    )


def _checked_names(names: object) -> tuple[str, str]:
    if names is None:
        return "log a", "log b"
    pair = tuple(names) if isinstance(names, (tuple, list)) else ()
    if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        raise InvalidOption(f"names is {names!r:.60}, expected the names of the two logs, two texts")
    return printable(pair[0]), printable(pair[1])


def _null_section(answer: Comparison) -> ChartSection:
    label = (
        f"Distances between {len(answer.null)} random splits of all sequences, and the distance {answer.distance:.4g} "
        "between the two logs."
    )
    if not len(answer.null):
        return ChartSection("null", "Is it noise?", None, label, note="No resample was finished.")
    edges = np.histogram_bin_edges(answer.null, null_bins(len(answer.null)))
    heights, _ = np.histogram(answer.null, edges)
    bars = [
        {"low": low, "high": high, "n": int(n), "tip": [f"{n} random splits", f"distance {low:.4g} to {high:.4g}"]}
        for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), heights.tolist(), strict=True)
    ]
    rule = [{"d": answer.distance, "tip": ["the two logs", f"distance {answer.distance:.4g}"]}]
    span = [
        {
            "low": answer.interval[0],
            "high": answer.interval[1],
            "tip": [f"bootstrap, {answer.confidence:.0%}", f"{answer.interval[0]:.4g} to {answer.interval[1]:.4g}"],
        }
    ]
    x: dict[str, Any] = {"type": "quantitative", "scale": {"zero": True}}
    title = f"distance at discount {discount_text(answer.discount)}"
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": bars},
            "mark": {"type": "bar", "color": "--soft", "tooltip": True},
            "encoding": {
                "x": {"field": "low", "title": title, **x},
                "x2": {"field": "high"},
                "y": {"field": "n", "type": "quantitative", "title": "random splits", "stack": None},
                "y2": {"datum": 0},
            },
        },
        {
            "data": {"values": rule},
            "mark": {"type": "rule", "color": "--accent", "size": 3, "tooltip": True},
            "encoding": {"x": {"field": "d", **x}},
        },
    ]
    if len(answer.bootstrap):
        layers.append(
            {
                "data": {"values": span},
                "mark": {"type": "rule", "color": "--bar", "size": 5, "tooltip": True},
                "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}, "y": {"value": 6}},
            }
        )
    note = "The horizontal bar is the bootstrap interval of the distance"
    note += "; this close to zero it is not to be trusted." if answer.near_zero else ", corrected for bias."
    hint = "Bars: what two samples of these sizes from one process show. Line: the two logs."
    return ChartSection("null", "Is it noise?", {"layer": layers, "height": 240}, label, hint, note)


def _changes_chart(answer: Comparison) -> ChartSection:
    chosen = answer.changed.significant()[:MOST_CHARTED]
    label = "Differences of the shares of transitions, with intervals."
    title = "What changed"
    if not chosen:
        return ChartSection("changed", title, None, label, note="No transition differs beyond chance.")
    rows = [
        {
            "move": f"{k + 1}. {_move(change)}",
            "low": 100 * change.interval[0],
            "high": 100 * change.interval[1],
            "d": 100 * change.difference,
            "tip": [
                _move(change),
                f"{_share(change.shares[0])} in a, {_share(change.shares[1])} in b",
                _p(change.p_value),
            ],
        }
        for k, change in enumerate(chosen)
    ]
    y = {"field": "move", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 260}}
    x = {"type": "quantitative", "title": "share in b minus share in a, percentage points"}
    spec = {
        "data": {"values": rows},
        "height": {"step": 20},
        "layer": [
            {
                "mark": {"type": "rule", "color": "--bar", "size": 3, "tooltip": True},
                "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "color": "--accent", "filled": True, "size": 50, "tooltip": True},
                "encoding": {"y": y, "x": {"field": "d", **x}},
            },
        ],
    }
    hint = "Those that matter most to the distance first; intervals are right for all transitions at once."
    return ChartSection("changed", title, spec, label, hint)


def _statements(answer: Comparison) -> TableSection:
    low, high = answer.solution.interval
    level = f"{answer.confidence:.0%}"
    rows = [
        [
            "Computation",
            f"[{low:.10g}, {high:.10g}]",
            "the two estimated chains",
            "certified; says nothing of the processes",
        ],
        [
            "Bootstrap",
            f"[{answer.interval[0]:.4g}, {answer.interval[1]:.4g}]",
            "the two processes",
            "not this close to zero" if answer.near_zero else f"about {level}",
        ],
        [
            "Guarantee",
            f"[{answer.guarantee[0]:.4g}, {answer.guarantee[1]:.4g}]",
            "the two processes",
            f"{level}, whatever Markov chains they are",
        ],
    ]
    return TableSection(
        "statements", "Three statements", ["Statement", "Distance", "About", "Holds"], rows,
        note=needed_words(answer), wide=True,
    )  # fmt: skip


def needed_words(answer: Comparison) -> str:
    """For how many sequences the guarantee would say more, in words."""
    needed = answer.sequences_needed
    if needed is None:
        return (
            "No number of sequences would make the guarantee narrower than the distance: nothing is known of the moves "
            "from states that are never left (end=True says that sequences end there), or the cost is too large."
        )
    return f"The guarantee is narrower than the distance from about {needed[0]:.2g} and {needed[1]:.2g} sequences on."


def _changes_table(answer: Comparison, first: str, second: str) -> TableSection:
    chosen = answer.changed.transitions[:MOST_CHANGES]
    rows = [
        [
            _move(change),
            f"{_share(change.shares[0])} ({change.counts[0]} of {change.visits[0]})",
            f"{_share(change.shares[1])} ({change.counts[1]} of {change.visits[1]})",
            f"[{100 * change.interval[0]:+.1f}, {100 * change.interval[1]:+.1f}]",
            _p(change.p_value),
            _effect(change.effect),
        ]
        for change in chosen
    ]
    hint = f"The {len(chosen)} of {len(answer.changed)} transitions with the largest effect on the distance."
    note = "Intervals in percentage points, for all transitions at once (Bonferroni); p-values by Holm's correction."
    head = ["Transition", first, second, "Difference", "p", "Effect"]
    return TableSection("transitions", "Transitions", head, rows, hint, note, wide=True)


def _states_table(answer: Comparison) -> TableSection:
    chosen = answer.changed.states[:MOST_CHANGES]
    rows = [
        [printable(state.name), str(state.visits[0]), str(state.visits[1]), _effect(state.effect), _p(state.p_value)]
        for state in chosen
    ]
    return TableSection(
        "states", "States", ["State", "Left in a", "Left in b", "Effect", "Least p"], rows,
        hint="How much the transitions of each state add to the distance, to first order.", wide=True,
    )  # fmt: skip


def _move(change: Transition) -> str:
    return f"{printable(change.source)} → {printable(change.target)}"


def _share(share: float) -> str:
    return "—" if np.isnan(share) else f"{share:.1%}"


def _effect(effect: float) -> str:
    return f"{effect:+.3g}" if effect else "0"


def _p(p_value: float) -> str:
    return "—" if np.isnan(p_value) else f"{p_value:.2g}"
