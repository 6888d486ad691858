"""The report of a solution in a real browser: headless Chromium, from a file, without a network."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import bisimetric as bm
from tests.views.report.browser import PATIENCE
from tests.views.report.models import HOSTILE, decision_process, protocol, protocols, random_solution

pytestmark = pytest.mark.slow
WIDTHS = [400, 1400]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_opens_from_a_file_at_every_width_and_in_both_schemes(page, width, dark):
    """All parts are there, nothing is wider than the screen, and the colours are those of the scheme."""
    page.open(protocols(), width=width, dark=dark, names=("good line", "bad line"), command="bisimetric distance a b")
    assert page.text("h1") == page.driver.title == "Distance between good line and bad line"
    assert page.text("#value").startswith("0.883195")
    assert "certified between 0.88319" in page.text("#interval")
    assert page.text("#command") == "bisimetric distance a b"
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    for chart in ("matrix", "source", "target", "convergence"):
        assert page.run(f"return document.querySelectorAll('#{chart} canvas[aria-label]').length") == 1
        painted = f"""
            const canvas = document.querySelector('#{chart} canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return new Set(new Uint32Array(pixels.buffer)).size"""
        assert page.run(painted) > 5
    background = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == dark


def test_hovering_shows_names_value_and_bounds(page):
    """Over the matrix and over a state."""
    solution = protocols()
    page.open(solution)
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 3 && datum.c === 1"), press=False)
    tip = page.text("#tip").split("\n")
    assert tip[:2] == ["source: done", "target: send"]
    assert tip[2].startswith(f"distance {solution.value[3, 1]:.5g}")
    low, high = tip[3].removeprefix("certified between ").split(" and ")
    assert float(low) <= solution.lower[3, 1] <= solution.upper[3, 1] <= float(high)
    assert float(high) - float(low) < 1e-8
    page.mouse((2, 2), press=False)
    assert page.run("return document.getElementById('tip').hidden")


def test_clicking_a_pair_shows_its_coupling_and_leads_on(page):
    """The numbers are the solution's; a successor is a button to the next pair."""
    solution = protocols()
    page.open(solution)
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 1 && datum.c === 1"), press=True)
    assert page.selected() == "send  ·  send"
    law = solution.coupling["send", "send"].toarray()
    first = np.unravel_index(law.argmax(), law.shape)
    rows = page.run(
        "return [...document.querySelectorAll('#coupling tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert rows[0][:2] == ["wait ack  ·  wait ack", f"{100 * law.max():.1f} %"]
    shares = [float(row[3].removesuffix(" %").removeprefix("< ")) for row in rows]
    assert 95 <= sum(shares) <= 100.3  # nothing is paid at this pair itself
    page.click("#coupling tbody tr button")
    assert page.selected() == "  ·  ".join(solution.problem.source.name_of(int(k)) for k in first)
    page.click("#explanation tbody tr button")
    part = solution.explain().parts[0]
    assert page.selected() == f"{part.source}  ·  {part.target}"
    assert f"{part.share:.1%}".replace("%", " %") in page.text("#pair-facts")


def test_a_click_on_a_state_selects_it(page):
    """In the drawing of the target, with the source as it is; both drawings mark the pair."""
    page.open(protocols())
    views = "drawn[1].view"
    page.mouse(page.cell("#target", views, "datum.state === 3"), press=True)
    assert page.selected() == "idle  ·  done"
    marked = "return [0, 1].map(k => drawn[k].view.data('here')[0].state)"
    assert page.run(marked) == [0, 3]


def test_everything_works_with_the_keyboard(page):
    """Tab reaches the matrix, arrows move, Enter follows the coupling; buttons and lists are plain ones."""
    from selenium.webdriver.common.keys import Keys

    solution = protocols()
    page.open(solution)
    for _ in range(10):
        page.keys(Keys.TAB)
        if page.run("return document.activeElement.id") == "matrix":
            break
    assert page.run("return document.activeElement.id") == "matrix"
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert page.selected() == "send  ·  send"
    assert "send  ·  send" in page.text("#said")
    page.keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.selected() == "send  ·  idle"
    page.keys(Keys.ARROW_RIGHT, Keys.ENTER)
    assert page.selected() == "wait ack  ·  wait ack"
    reached = []
    for _ in range(40):
        page.keys(Keys.TAB)
        reached.append(page.run("return document.activeElement.id"))
    assert {"choose-source", "choose-target", "restart", "step", "play", "speed", "python"} <= set(reached)
    page.run("document.getElementById('step').focus()")
    page.keys(Keys.ENTER)
    assert page.run("return walk.path.length") >= 2
    controls = "return [...document.querySelectorAll('button, select, input')]"
    assert page.run(f"{controls}.length") > 10
    assert page.run(f"{controls}.filter(control => !control.textContent && !control.labels?.length)") == []


def test_the_player_steps_by_the_coupling(page):
    """Every step is a possible one; back undoes it, start over begins again, play goes on by itself until paused."""
    from selenium.webdriver.support.ui import WebDriverWait

    solution = protocols()
    page.open(solution)
    for _ in range(12):
        page.click("#step")
    path = page.run("return walk.path")
    assert len(path) == 13
    for here, there in pairwise(path):
        assert solution.coupling[divmod(here, 5)].toarray().flat[there] > 0
    paid = sum(0.9**t * solution.problem.cost.flat[number] for t, number in enumerate(path))
    assert f"discounted cost along the way {paid:.6g};" in page.text("#walked")
    page.click("#back")
    assert page.run("return walk.path") == path[:-1]
    page.click("#restart")
    assert page.run("return [walk.path.length, selected]") == [1, path[0]]
    page.click("#play")
    assert page.text("#play") == "Pause"
    WebDriverWait(page.driver, PATIENCE).until(lambda _: page.run("return walk.path.length") > 3)
    page.click("#play")
    length = page.run("return walk.path.length")
    assert page.text("#play") == "Play"
    page.run("return new Promise(done => setTimeout(done, 1000))")
    assert page.run("return walk.path.length") == length


def test_states_may_be_called_anything(page):
    """Nothing in a name runs or becomes an element."""
    chain = bm.MarkovChain(np.eye(5)[[1, 2, 3, 4, 0]], reward=np.arange(5), start=0, names=HOSTILE)
    page.open(bm.distance(chain, chain.with_start(1), discount=0.5), names=HOSTILE[:2], command=HOSTILE[0])
    for row in range(5):
        page.mouse(page.cell("#matrix", "views.matrix", f"datum.r === {row} && datum.c === 0"), press=True)
        assert page.text("#tip").startswith("source: ")
    page.click("#step")
    assert "owned" not in page.driver.title.replace("document.title='owned'", "")
    assert page.run("return document.querySelectorAll('svg, img, iframe').length") == 0
    assert page.text("#command") == HOSTILE[0]


def test_other_kinds_of_solutions_open(page):
    """Decision processes, maps, binned matrices, pairs that were not solved, couplings that are not there."""
    mdp = decision_process()
    page.open(bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.8))
    assert "Decisive actions" in page.text("#pair-facts")
    labelled = [protocol(loss, labels=["-", "-", "-", "ok", "-"]) for loss in (0.05, 0.2)]
    page.open(bm.bisimilarity_distance(*labelled))
    assert page.text("#time-head") == "Visits"
    page.open(bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95), width=400)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    page.open(random_solution(130, 300, 3))
    assert "130 × 300 states" in page.text("#matrix-note")
    page.mouse(page.cell("#matrix", "views.matrix", "datum.r === 60 && datum.c === 60"), press=True)
    assert "mean distance" in page.text("#tip")
    page.click("#step")
    chain = bm.MarkovChain(np.eye(4)[[1, 0, 3, 2]], reward=np.arange(4), start=0)
    page.open(bm.distance(chain, chain.with_start(1), discount=0.5, pairs="reachable"))
    page.click("#step")


def test_a_new_width_and_a_new_scheme_are_followed(page):
    """Charts are drawn anew, with the pair still selected."""
    from selenium.webdriver.support.ui import WebDriverWait

    page.open(protocols())
    page.click("#step")
    selected = page.selected()
    width = "return document.querySelector('#matrix canvas').width"
    before = page.run(width)
    size = {"width": 500, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    WebDriverWait(page.driver, PATIENCE).until(lambda _: page.run(width) < before)
    scheme = {"name": "prefers-color-scheme", "value": "dark"}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    assert page.selected() == selected
