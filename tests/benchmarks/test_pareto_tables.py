"""Tables and pictures of the race: honest where seeds differ, where something was ended, and where ours is missing."""

from __future__ import annotations

import pytest
from benchmarks.pareto import methods, pictures, tables

from benchmarks import plots


def row(method: str, cpu: float, instance: str = "dense-20", **more: object) -> dict[str, object]:
    """A result as the race stores it."""
    made = {"instance": instance, "seed": 0, "discount": 0.95, "method": method, "setting": {"tol": 1e-6}, "cpu": cpu}
    size = {"states": int(instance.split("-")[1])}
    return {**made, **size, "status": "solved", "error": 0.0, **more}


def stored() -> list[dict[str, object]]:
    """Results of a race in which everything happens."""
    late = {"instance": "dense-20", "seed": 0, "discount": 0.95, "status": "time-out", "setting": {"tol": 1.0}}
    return [
        row("ours", 0.02),
        row("ours", 0.04),
        row("ours", 0.01, setting={"tol": 0.1}, error=0.05),
        row("ours", 1.0, seed=1),
        row("pi-core-lu", 0.3, setting={"tol": 0.1}, error=0.05),
        row("pi-core-lu", 0.6, setting={"tol": 0.01}, error=0.005),
        row("pi-core-lu", 0.9),
        row("pi-core-lu", 0.5, seed=1),
        row("vi-emd2", 3.0),
        late | {"method": "vi-emd2", "seed": 1},
        row("svi-numpy", 2.0, setting={"rounds": 50, "step": 1.0}, policy_error=0.2, error=0.3),
        late | {"method": "highs-ipm"},
        late | {"method": "pyotc", "not_run_because_of": "dense-10"},
        row("ours", 0.1, instance="paper-40"),
        row("ours", 0.1, instance="paper-40", setting={"tol": 0.1}),
        row("pi-core-lu", 1.0, instance="paper-40"),
        row("ot-markov-distances", 0.5, "paper-40", setting={"reg": 0.1}, error=0.4, policy_error=0.009),
    ]


def test_the_cheapest_setting_counts():
    """By seed, against the median of our certified runs; a single loss shows."""
    found = tables.figures(stored())
    ours, core = found["dense-20", 0.95, "ours"], found["dense-20", 0.95, "pi-core-lu"]
    assert ours.cpu == pytest.approx(0.515)
    assert core.factors == pytest.approx({0: 20.0, 1: 0.5})
    assert found["dense-20", 0.95, "svi-numpy"].status == "never"
    assert found["paper-40", 0.95, "ot-markov-distances"].factors == pytest.approx({0: 5.0})


def test_tables():
    """Who is fastest, how often ours is, what was ended, not run or never good enough, and both kinds of errors."""
    rows = stored()
    best, by_peer, seconds, errors = tables.tables(rows, 10.0)
    assert best.body[0] == ["softmax n=20", "0.95", "0.52", "PI core LU", "0.55", "10×", "0.5×", "10×"]
    assert best.body[1][3:] == ["ot-m-d", "0.5", "5×", "5×", "10×"]
    lines = {line[0]: list(line[1:]) for line in by_peer.body}
    assert lines["PI core LU"] == ["3", "3", "2", "0.50×", "softmax n=20, γ = 0.95", "10×", "20×"]
    assert lines["any peer, best"] == ["3", "3", "2", "0.50×", "softmax n=20, γ = 0.95", "5×", "20×"]
    assert lines["HiGHS"] == ["1", "0", "", "", "", "", ""]
    cells = dict(zip(seconds.head, seconds.body[0], strict=True))
    assert (cells["HiGHS"], cells["pyotc"], cells["SVI NumPy"]) == ("> 10", "> 10 †", "never")
    assert dict(zip(errors.head, errors.body[1], strict=True))["ot-m-d, couplings"] == "0.9%"
    assert cells["VI textbook"] == "3 (1 of 2)"


def mixed() -> list[dict[str, object]]:
    """Three seeds: on one of them a peer is late, and on another ours has no answer."""
    late = {"instance": "dense-20", "discount": 0.95, "setting": {"tol": 1e-6}, "states": 20, "status": "time-out"}
    return [
        row("ours", 0.1),
        row("ours", 0.2, seed=1),
        late | {"method": "ours", "seed": 2},
        late | {"method": "vi-emd2", "seed": 0},
        row("vi-emd2", 1.0, seed=1),
        row("vi-emd2", 4.0, seed=2),
        row("pi-core-lu", 9.0),
        row("pi-core-lu", 8.0, seed=1),
        row("pi-core-lu", 7.0, seed=2),
        row("vi-core-macqueen", 1.0, setting={"tol": 1.0}, error=0.5),
        late | {"method": "vi-core-macqueen", "seed": 0, "status": "out of memory", "not_run_because_of": "dense-10"},
    ]


def test_seeds_that_differ():
    """One late seed neither hides the others nor enters the median; who has more seeds comes first."""
    found = tables.figures(mixed())
    late = found["dense-20", 0.95, "vi-emd2"]
    assert (late.status, late.cpu, late.some) == ("reached", 2.5, "2 of 3")
    assert late.factors == pytest.approx({1: 5.0})
    best, by_peer, seconds, _ = tables.tables(mixed(), 10.0)
    cells = dict(zip(seconds.head, seconds.body[0], strict=True))
    assert cells["ours"] == "0.15 (2 of 3)"
    assert (cells["VI textbook"], cells["PI core LU"]) == ("2.5 (2 of 3)", "8")
    assert cells["VI core"] == "out of memory †"
    assert best.body == [["softmax n=20", "0.95", "0.15 (2 of 3)", "PI core LU", "8", "65×", "5×", "65×"]]
    assert best.notes[-1] == "No certified answer of ours on all seeds: softmax n=20, γ = 0.95."
    assert {line[0]: line[2] for line in by_peer.body}["VI textbook"] == "1"


def test_without_ours():
    """Tables are made of what there is."""
    rows = [one for one in mixed() if one["method"] != "ours"]
    best, by_peer, seconds, _ = tables.tables(rows, 10.0)
    assert not best.body
    assert len(best.notes) == 2
    assert all(line[1:3] == ["0", "0"] for line in by_peer.body)
    assert "8" in seconds.body[0]


@pytest.mark.slow
def test_pictures(tmp_path):
    """Both are drawn from stored rows; panels are the instances of which ours has more than one setting."""
    pytest.importorskip("matplotlib")
    rows = stored()
    assert pictures.panels_of(rows) == ["dense-20", "paper-40"]
    own = [one for one in rows if one["method"] == "ours" and one["seed"] == 0 and one["instance"] == "dense-20"]
    assert pictures.points_of(own, None) == [(pytest.approx(0.03), pictures.FLOOR), (0.01, 0.05)]
    for draw in (pictures.errors, pictures.sizes):
        plots.write(draw(rows, 10.0), tmp_path / "picture.png")
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_no_panel_yet():
    """An interrupted race may have none of the instances whose ladders are shown."""
    pytest.importorskip("matplotlib")
    assert pictures.errors(mixed(), 10.0) is None


def test_the_picture_of_errors():
    """A panel for each instance, with a line of the settings that none is better than, and both limits."""
    figure = drawn(pictures.errors, stored())
    panels = figure.axes
    assert len(drawn(pictures.sizes, stored()).axes) == 2
    assert [axes.get_title(loc="left") for axes in panels] == ["softmax n=20, γ = 0.95", "4-rooms 40, γ = 0.95"]
    assert panels[0].get_xlabel() == "CPU seconds, one thread"
    assert "true error" in panels[0].get_ylabel()
    lines = {tuple(line.get_xdata()): list(line.get_ydata()) for line in panels[0].get_lines()}
    assert lines[0.3, 0.6, 0.9] == [0.05, 0.005, pictures.FLOOR]
    assert lines[0.01, 0.03] == [0.05, pictures.FLOOR]
    assert {methods.METHODS[name].title for name in pictures.LOOKS} == legend(figure)


def test_the_picture_of_sizes():
    """Medians by size, the number of seeds where they differ, and what is not reached above the limit."""
    (axes,) = drawn(pictures.sizes, mixed()).axes
    assert axes.get_xlabel() == "states of each chain"
    by_colour = {(line.get_color(), line.get_marker()): line for line in axes.get_lines()}
    assert by_colour[pictures.LOOKS["vi-emd2"][:2]].get_xydata().tolist() == [[20, 2.5]]
    missed = by_colour[pictures.LOOKS["vi-core-macqueen"][:2]]
    assert missed.get_fillstyle() == "none"
    assert missed.get_ydata()[0] > 10.0
    assert sorted(text.get_text() for text in axes.texts) == ["2 of 3", "2 of 3"]


def drawn(draw, rows):
    """A picture, which pyplot forgets."""
    pytest.importorskip("matplotlib")
    figure = draw(rows, 10.0)
    pictures.pyplot().close(figure)
    return figure


def legend(figure) -> set[str]:
    """The texts of the legend below the panels."""
    return {text.get_text() for text in figure.legends[0].get_texts()}
