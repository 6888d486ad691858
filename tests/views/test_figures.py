"""Text is inert, files are reproducible, and matplotlib may be missing."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib
import matplotlib.image
import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidOption, MissingExtra
from bisimetric.views.figures import all_shortened, inert
from tests.views.pictures import legend, pixels, texts

HOSTILE = [
    "</script><svg onload=alert(1)>",
    "$x^2$",
    "$\\frac{1}{",
    "a\x1b[31m\u202e\n\ud800\x00",
    "界" * 500,
    "_hidden",
    "x--><y>",
]

TAGS = {
    "svg", "metadata", "RDF", "Work", "type", "format", "creator", "Agent", "title", "defs", "style", "g", "path",
    "use", "clipPath", "rect", "image",
}  # fmt: skip


def hostile_solution():
    """Distances between states with names that nobody should have."""
    chain = bm.MarkovChain(np.eye(7), reward=np.arange(7), names=HOSTILE, start=0)
    return bm.solve(bm.Problem(chain, chain.with_start(1), discount=0.5))


@pytest.mark.parametrize("usetex", [False, True])
def test_hostile_names_are_drawn_as_they_stand(usetex):
    """Neither mathematics nor TeX nor control characters in names do anything; long ones are cut."""
    with matplotlib.rc_context({"text.usetex": usetex}):
        figure = hostile_solution().plot()
        labels = figure.axes[0].get_xticklabels()
    assert not any(label.get_usetex() or label.get_parse_math() for label in labels)
    shown = [label.get_text() for label in labels]
    assert shown[1:3] == ["$x^2$", "$\\frac{1}{"]
    assert shown[3].startswith("a\\x1b[31m")
    assert shown[4].startswith("\\u754c")
    assert max(map(len, shown)) <= 28
    if not usetex:
        assert pixels(figure).std() > 0


def test_hostile_titles_labels_and_legends():
    """All other texts are inert too; a title may have several lines, and no name is dropped from a legend."""
    curves = {name: ([1, 2], [1, 2]) for name in HOSTILE}
    figure = bm.plot.curves(curves, exact=1, title="$\\a\nsecond", xlabel="$x$", ylabel="$\\b{")
    assert {"$\\a\nsecond", "$x$", "$\\b{", "_hidden", "</script><svg onload=alert(1)>"} <= set(texts(figure))
    assert len(legend(figure.axes[0])) == 8
    assert pixels(figure).std() > 0
    grid = bm.environments.grid_3x3()
    figure = bm.plot.heat_map(grid, np.zeros(9), label="$\\b{", marks={0: "$\\c{"}, title="$\\a")
    assert {"$\\b{", "$\\c{", "$\\a"} <= set(texts(figure))
    assert pixels(figure).std() > 0


def test_characters_of_the_font_stay():
    """Only what cannot be seen is escaped."""
    assert inert("γ·V² ≤ ∞, é, Ω") == "γ·V² ≤ ∞, é, Ω"
    assert inert("x\ty") == "x\\ty"


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".SVG"])
def test_files_are_reproducible(tmp_path, suffix):
    """The same figure gives the same bytes, also when it is drawn anew."""
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    for path in (first, second):
        bm.plot.save(hostile_solution().plot(), path)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 1000
    assert list(tmp_path.iterdir()) in ([first, second], [second, first])


def hostile_pictures():
    """Every picture that shows names of states."""
    solution = hostile_solution()
    chain = solution.problem.source
    alone = bm.bisimulation_metric(chain, discount=0.5)
    yield solution.plot(names=tuple(HOSTILE[:2]))
    yield alone.plot()
    yield bm.plot.matrix(alone, order="clustering")
    yield bm.plot.dendrogram(alone)
    yield bm.plot.mds(alone, groups=HOSTILE)
    yield bm.plot.coupling(solution, 0, 1, names=tuple(HOSTILE[:2]))
    yield solution.explain().plot()
    yield bm.aggregate(chain, n_states=4, discount=0.5).plot()
    yield bm.plot.convergence({HOSTILE[0]: solution, HOSTILE[1]: solution}, show="interval")


@pytest.mark.slow
def test_svg_is_inert(tmp_path):
    """It is XML without scripts, links, handlers or text that came through as markup; `$x^2$` is text."""
    literal = 0
    for k, figure in enumerate(hostile_pictures()):
        path = tmp_path / f"{k}.svg"
        bm.plot.save(figure, path)
        content = path.read_text(encoding="utf-8")
        assert "<script" not in content
        assert "\x1b" not in content
        root = ElementTree.fromstring(content)
        tags = {element.tag.split("}")[-1] for element in root.iter()}
        assert tags <= TAGS
        attributes = {name for element in root.iter() for name in element.attrib}
        assert not any(name.lower().startswith("on") for name in attributes)
        literal += any("$x^2$" in text for text in texts(figure))
    assert literal >= 7  # names of points that have no room are left out


def test_saving_fails_cleanly(tmp_path):
    """Other suffixes, missing folders and what is no figure are refused; a file that is there stays."""
    figure = bm.plot.times({"a": ([1], [1.0])})
    with pytest.raises(InvalidOption, match=r"\.png or \.svg or \.pdf"):
        bm.plot.save(figure, tmp_path / "a.jpg")
    with pytest.raises(FileFormatError, match="there is no folder"):
        bm.plot.save(figure, tmp_path / "nowhere" / "a.png")
    with pytest.raises(InvalidOption, match="figure is a str"):
        bm.plot.save("figure", tmp_path / "a.png")
    old = tmp_path / "old.png"
    old.write_bytes(b"old")
    figure.axes[0].set_title("$\\frac{$")  # by hand, hence mathematics, and bad
    with pytest.raises(ValueError, match="frac"):
        bm.plot.save(figure, old)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_without_matplotlib(monkeypatch):
    """Every picture says what to install."""
    grid = bm.environments.grid_3x3()
    solution = bm.distance(grid, grid, discount=0.5)
    explanation = bm.distance("grid-3x3", "open-grid:3", discount=0.5).explain()
    aggregation = bm.aggregate(grid, n_states=3, discount=0.5)
    table = bm.pairwise(["grid-3x3", "open-grid:2", "open-grid:3"], discount=0.5)
    for name in [*sys.modules]:
        if name.split(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    for draw in (
        solution.plot,
        explanation.plot,
        aggregation.plot,
        table.plot,
        lambda: bm.plot.heat_map(grid, np.zeros(9)),
        lambda: bm.plot.curves({"a": ([1], [1])}),
        lambda: bm.plot.matrix(solution),
        lambda: bm.plot.states(solution),
        lambda: bm.plot.dendrogram(solution),
        lambda: bm.plot.coupling(solution, 0, 0),
        lambda: bm.plot.convergence(solution),
        lambda: bm.plot.model(grid),
        lambda: bm.plot.times({"a": ([1], [1])}),
        lambda: bm.plot.mds([[0, 1], [1, 0]]),
        lambda: bm.plot.heat_map(grid, np.zeros(9), ax=object()),
    ):
        with pytest.raises(MissingExtra, match=r"bisimetric\[plot\]"):
            draw()


def test_without_scikit_learn(monkeypatch):
    """Multidimensional scaling says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    with pytest.raises(MissingExtra, match=r"pip install 'bisimetric\[plot\]'"):
        bm.plot.embed([[0, 1], [1, 0]])


NO_PYPLOT = """
import sys
import bisimetric as bm
bm.plot.curves({"a": ([1, 2], [1, 2])})
solution = bm.bisimulation_metric("grid-3x3", discount=0.5)
solution.plot()
bm.plot.dendrogram(solution)
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""


@pytest.mark.slow
def test_pyplot_is_not_needed():
    """Nothing is registered with pyplot, so figures go when nobody holds them."""
    subprocess.run([sys.executable, "-c", NO_PYPLOT], check=True)


WITHOUT_THE_EXTRA = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"matplotlib", "sklearn", "textalloc", "networkx", "vl_convert"}:
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
import bisimetric as bm
solution = bm.bisimulation_metric("grid-3x3", discount=0.5)
for draw in (solution.plot, lambda: bm.plot.matrix(solution), lambda: bm.plot.mds(solution.value)):
    try:
        draw()
    except bm.errors.MissingExtra as error:
        assert "bisimetric[plot]" in str(error)
    else:
        raise AssertionError(draw)
"""


def test_two_long_names_stay_apart():
    """Of names with equal ends the middle is kept, where they differ; short and equal names stay."""
    wet, dry = (f"gym:FrozenLake-v1,is_slippery={wet},policy=optimal,discount=0.95" for wet in ("true", "false"))
    for longest in (24, 32, 44):
        found = all_shortened((wet, dry), longest)
        assert found[0] != found[1]
        assert max(map(len, found)) <= longest
        assert all(name.startswith("gym:Froz") for name in found)
    assert all_shortened(("a", "b"), 24) == ["a", "b"]
    assert len(set(all_shortened((wet, wet), 24))) == 1
    assert all_shortened(("x" * 100 + "a", "x" * 100 + "b"), 24)[0].endswith("xa")


def test_many_long_names_stay_apart():
    """Models that differ in the middle of their names, among others that keep their ends."""
    rates = [f"gym:FrozenLake-v1,success_rate={k / 20:.2f},policy=optimal,discount=0.9" for k in range(20)]
    sizes = [f"four-rooms:side={k},goal=north-east,shortest-path=0.25" for k in range(3, 9)]
    found = all_shortened([*rates, "four-rooms:p0", *sizes], 28)
    assert len(set(found)) == len(found)
    assert max(map(len, found)) <= 28
    assert found[20] == "four-rooms:p0"
    places, letters = ("(0,4)", "(4,0)"), "RGYB"
    states = [f"taxi {at}, passenger {by}, destination {to}" for at in places for by in letters for to in letters]
    found = all_shortened(states, 28)
    assert len(set(found)) == len(found)
    assert max(map(len, found)) <= 28


def test_the_library_works_without_the_extra():
    """Only what draws needs it, and says so."""
    subprocess.run([sys.executable, "-c", WITHOUT_THE_EXTRA], check=True)
