"""Reports of tables and aggregations, pages of plain sections, and odd names in all of them, in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.views.report.frame import html
from tests.views.report.models import ODD, decision_process, protocol, table_of_points
from tests.views.report.test_frame import own_page

pytestmark = pytest.mark.slow
ROOMS = ["four-rooms:p0", "four-rooms:p1", "four-rooms:p2", "four-rooms:p3"]


@pytest.fixture(scope="module")
def rooms():
    """Four chains."""
    return bm.pairwise(ROOMS, discount=0.95)


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_tables_and_aggregations_fit_the_screen(page, rooms, width, dark):
    """Nothing is wider, every chart is painted and has a label for screen readers."""
    for answer in (rooms, bm.aggregate("four-rooms:p1", n_states=9, discount=0.9)):
        page.open(answer, width=width, dark=dark)
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
        labels = page.run("return [...document.querySelectorAll('canvas')].map(c => c.getAttribute('aria-label'))")
        assert len(labels) >= 2
        assert all(labels)
        painted = """return [...document.querySelectorAll('canvas')].map(canvas => {
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return new Set(new Uint32Array(pixels.buffer)).size})"""
        assert min(page.run(painted)) > 5


def test_a_table_by_mouse(page, rooms):
    """Hover tells names, value, bounds and status; a click selects; the map and the list change the selection."""
    page.open(rooms)
    order = page.run("return table.order[0]")
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 0 && datum.c === 2"), press=False)
    tip = page.text("#tip").split("\n")
    assert tip[:2] == [ROOMS[order[0]], ROOMS[order[2]]]
    assert tip[2] == f"distance {rooms.value[order[0], order[2]]:.6g}"
    low, high = tip[3].removeprefix("certified between ").split(" and ")
    assert float(low) <= rooms.lower[order[0], order[2]] <= rooms.upper[order[0], order[2]] <= float(high)
    assert tip[4] == "SOLVED"
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 0 && datum.c === 2"), press=True)
    assert page.selected() == f"{ROOMS[order[0]]}  ·  {ROOMS[order[2]]}"
    page.mouse(page.cell("#map", "views.map", "datum.chain === 1"), press=True)
    assert page.selected() == f"{ROOMS[order[0]]}  ·  {ROOMS[1]}"
    assert page.run("return views.map.data('here').length") == 2
    page.click("#near tbody tr:last-child button")
    first, second = page.selected().split("  ·  ")
    i = ROOMS.index(first)
    assert rooms.value[i, ROOMS.index(second)] == rooms.value[i].max()


def test_a_table_by_keyboard(page, rooms):
    """Arrows move in the matrix, in its order; lists are plain ones."""
    from selenium.webdriver.common.keys import Keys

    page.open(rooms)
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 0 && datum.c === 0"), press=True)
    page.run("document.getElementById('matrix').focus()")
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    order = page.run("return table.order[0]")
    assert page.selected() == f"{ROOMS[order[1]]}  ·  {ROOMS[order[2]]}"
    assert ROOMS[order[2]] in page.text("#said")
    page.run("document.getElementById('choose-source').focus()")
    page.keys(Keys.HOME)
    assert page.selected().startswith(ROOMS[0])


def test_large_tables_and_two_lists(page):
    """Binned, with a note; without a map."""
    page.open(table_of_points(np.random.default_rng(0).random((150, 2))))
    assert "150 × 150 chains" in page.text("#matrix-note")
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 60 && datum.c === 3"), press=True)
    assert "mean distance" in page.text("#tip")
    chains = [protocol(loss) for loss in (0.1, 0.2, 0.3)]
    page.open(bm.pairwise(chains, chains[:2], discount=0.9))
    assert page.run("return document.getElementById('map')") is None
    page.open(bm.pairwise(chains[:1], discount=0.9))


def test_an_aggregation_by_mouse_and_keyboard(page):
    """A click on a state, on a group of the small model, in the list; both drawings mark the group."""
    answer = bm.aggregate(bm.as_mdp(bm.environments.four_rooms_mdp(side=6)), n_states=9, discount=0.9)
    page.open(answer)
    page.mouse(page.cell("#original", "drawn[0].view", "datum.state === 0"), press=True)
    group = int(answer.map[0])
    assert page.run("return selected") == group
    assert page.run("return drawn[0].view.data('here').length") == int((answer.map == group).sum())
    page.mouse(page.cell("#original", "drawn[0].view", "datum.state === 0"), press=False)
    assert f"action: {answer.original.action_name(int(answer.policy[0]))}" in page.text("#tip").split("\n")
    page.mouse(page.cell("#small", "drawn[1].view", "datum.state === 3"), press=True)
    assert page.run("return selected") == 3
    page.run("document.querySelector('#groups tbody tr:nth-child(2) button').focus()")
    from selenium.webdriver.common.keys import Keys

    page.keys(Keys.ENTER)
    assert page.run("return selected === bySize[1]")
    assert page.text("#group-name") in page.text("#said")


def test_the_most_likely_way_to_part(page):
    """The path of the explanation, and a walk along it."""
    solution = bm.distance(protocol(0.05), protocol(0.2), discount=0.9)
    path = solution.explain().path
    page.open(solution)
    shown = page.run("return [...document.querySelectorAll('#path tbody tr')].map(r => r.cells[0].textContent)")
    assert shown == [f"{moment.source}  ·  {moment.target}" for moment in path.moments]
    page.click("#follow")
    numbers = [5 * x + y for x, y in (moment.states for moment in path.moments[: path.parting + 1])]
    assert page.run("return walk.path") == numbers
    assert page.run("return selected") == numbers[-1]


def test_a_page_of_plain_sections(page, tmp_path):
    """A new kind of report needs no script."""
    file = tmp_path / "own.html"

    class Own:
        """Writes a page."""

        def report(self, path):
            file.write_text(html(own_page()), encoding="utf-8")
            path.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")

    page.open(Own())
    assert page.text("#null-title") == "plain"
    assert page.run("return document.querySelector('#changed tbody td').textContent") == "plain"
    assert page.run("return document.querySelectorAll('#null canvas').length") == 1


def test_odd_names_everywhere(page):
    """States, actions, labels, models and commands may be called anything; nothing runs, all can be selected."""
    n = len(ODD)
    chain = bm.MarkovChain(np.roll(np.eye(n), 1, axis=1), reward=np.arange(n), start=0, names=ODD, labels=ODD)
    mdp = bm.MDP([chain.transitions] * n, np.arange(n * n).reshape(n, n), start=0, names=ODD, actions=ODD)
    opened = [
        (bm.distance(chain, chain.with_start(1), discount=0.5), {"names": ODD[2:4]}),
        (bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.5), {"names": ODD[:2]}),
        (bm.pairwise([chain.with_start(k) for k in range(n)], discount=0.5), {"names": list(ODD)}),
        (bm.aggregate(chain, n_states=4, discount=0.5), {"names": ODD[3]}),
        (bm.aggregate(mdp, n_states=4, discount=0.5), {"names": ODD[0]}),
    ]
    for answer, options in opened:
        for width in (400, 1400):
            page.open(answer, width=width, command=f"bisimetric distance '{ODD[3]}' b", **options)
            assert page.run("return document.documentElement.scrollWidth <= innerWidth")
            assert page.run("return document.querySelectorAll('svg, img, iframe, object').length") == 0
            assert "owned" not in page.driver.title.replace('document.title="owned"', "")
            assert ODD[3] in page.text("#command")
            page.run("for (const button of [...document.querySelectorAll('td button')].slice(0, 12)) button.click()")


def test_the_empty_name(page):
    """Is shown as one."""
    page.open(table_of_points(np.array([[0.0], [1.0], [3.0]])), names=["", " ", "a"])
    assert "(empty name)" in page.text("#choose-source")


def test_decision_processes_show_their_actions(page):
    """The decisive actions of the selected pair, rewards in tooltips."""
    mdp = decision_process()
    page.open(bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.8))
    page.mouse(page.cell("#source", "drawn[0].view", "datum.state === 1"), press=False)
    assert "rewards: 0 to 1" in page.text("#tip").split("\n")
    assert page.run("return drawn[0].view.data('loops').length") > 0


def test_distances_that_were_not_solved_have_no_colour(page):
    """Unlike a distance of zero."""
    chain = bm.MarkovChain(np.eye(4)[[1, 0, 3, 2]], reward=np.arange(4), start=0)
    page.open(bm.distance(chain, chain.with_start(1), discount=0.5, pairs="reachable"))
    colours = page.run(
        """const found = {};
        const look = item => { for (const child of item.items || []) {
          const { known, state } = child.datum || {};
          if (known !== undefined && child.fill !== "transparent") found[state] = child.fill;
          look(child);
        } };
        look(drawn[0].view.scenegraph().root);
        return [found[0], found[1], getComputedStyle(document.documentElement).getPropertyValue("--soft").trim()]"""
    )
    assert colours[1] == colours[2] != colours[0]


def test_horizons_and_long_runs(page):
    """Pages without a walk."""
    page.open(bm.average_distance(protocol(0.05), protocol(0.2)), width=400)
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 3 && datum.c === 1"), press=True)
    assert page.selected() == "done  ·  send"
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    page.open(bm.solve(bm.HorizonProblem(protocol(0.05), protocol(0.2), horizon=5)))
    assert page.text("#word-first") == "Source state"
