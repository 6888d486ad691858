"""The report in a real browser: headless Chromium, from a file, without a network.

`.ci/run` installs Chromium and Selenium. Where they are missing these tests fail.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import bisimetric as bm
from tests.views.report.models import HOSTILE, decision_process, protocol, protocols, random_solution

pytestmark = pytest.mark.slow
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 60  # seconds


class Page:
    """One open report, and what a person does with it."""

    def __init__(self, driver, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def open(self, solution: bm.Solution | bm.MDPSolution, *, width: int = 1400, dark: bool = False, **options) -> None:
        """Write the report and wait until everything is drawn."""
        from selenium.webdriver.support.ui import WebDriverWait

        file = self.folder / "report.html"
        solution.report(file, **options)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get("about:blank")
        self.driver.get_log("performance"), self.driver.get_log("browser")
        self.driver.get(file.as_uri())
        ready = "return document.documentElement.dataset.ready === 'yes'"
        WebDriverWait(self.driver, PATIENCE).until(lambda driver: driver.execute_script(ready))

    def run(self, script: str, *arguments):
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """The text of an element, hidden or not."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector: str) -> None:
        """A click on an element, as a mouse does it."""
        element = self.driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def cell(self, selector: str, name: str, test: str) -> tuple[float, float]:
        """Where in the window the mark of a chart is whose datum passes a test."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        found = self.run(
            f"""
            const canvas = document.querySelector(arguments[0] + " canvas").getBoundingClientRect();
            const view = {name};
            const find = item => {{
              for (const child of item.items || []) {{
                if (child.datum && (datum => {test})(child.datum)) return child;
                const inside = find(child);
                if (inside) return inside;
              }}
            }};
            const box = find(view.scenegraph().root).bounds;
            const origin = view.origin();
            return [canvas.left + origin[0] + (box.x1 + box.x2) / 2, canvas.top + origin[1] + (box.y1 + box.y2) / 2];
            """,
            selector,
        )
        return found[0], found[1]

    def mouse(self, place: tuple[float, float], *, press: bool) -> None:
        """Move the pointer there, perhaps click."""
        x, y = place
        for kind, count in (("mouseMoved", 0), *((("mousePressed", 1), ("mouseReleased", 1)) if press else ())):
            event = {"type": kind, "x": x, "y": y, "button": "left" if count else "none", "clickCount": count}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def keys(self, *keys: str) -> None:
        """Press keys where the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def selected(self) -> str:
        """The names of the selected pair."""
        return self.text("#pair-name")

    def complaints(self) -> list[str]:
        """What the browser wrote to its console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> set[str]:
        """What kinds of addresses were asked for."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return {url.split(":")[0] for url in urls}


def start_browser(profile: Path):
    """A browser with a profile of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    browser, service = shutil.which("chromium"), shutil.which("chromedriver")
    assert browser, "chromium is missing: apt-get install chromium chromium-driver"
    assert service, "chromedriver is missing: apt-get install chromium chromium-driver"
    options = Options()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(service))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """One browser for most tests."""
    started = start_browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.quit()


@pytest.fixture
def page(driver, tmp_path: Path) -> Iterator[Page]:
    """A page whose test ends without complaints of the browser, and without a request but for files and data."""
    opened = Page(driver, tmp_path)
    yield opened
    assert opened.complaints() == []
    assert opened.requests() <= {"file", "data", "blob"}


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
