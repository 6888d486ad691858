"""A headless Chromium for tests, and what a person does with a report in it.

`.ci/run` installs Chromium and Selenium. Where they are missing these tests fail.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

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

    def open(self, answer, *, width: int = 1400, dark: bool = False, **options) -> None:
        """Write the report and wait until everything is drawn."""
        from selenium.webdriver.support.ui import WebDriverWait

        file = self.folder / "report.html"
        answer.report(file, **options)
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
