"""The documentation site: built with warnings as errors, without broken links, and searched in a browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import DOCS, ROOT, module, public_names
from tests.views.report.browser import PATIENCE, Page, start_browser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, as README and CI build it, from a copy of its sources."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples", "benchmarks"):
        made = shutil.ignore_patterns("api", "gallery", "tutorials", "__pycache__") if name == "docs" else None
        shutil.copytree(ROOT / name, folder / name, ignore=made)
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "site"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return folder / "site"


def test_no_link_is_broken(site):
    """Inside the site; and nothing is loaded from elsewhere."""
    links = module(DOCS / "check_links.py")
    assert len(links.pages(site)) > 100
    assert links.broken(site) == []
    outside = [path.name for path in site.rglob("*.css") if "url(http" in path.read_text(encoding="utf-8")]
    assert outside == []


def test_every_public_name_has_a_page(site):
    """The reference is made from the docstrings."""
    assert [name for name in public_names() if not (site / "api" / f"{name}.html").is_file()] == []


def test_tutorials_have_output_and_pictures(site):
    """Scripts were run: what they print and draw is on their pages."""
    for sources, folder in (("tutorials", "tutorials"), ("pictures", "gallery")):
        for script in (ROOT / "examples" / sources).glob("*.py"):
            page = (site / folder / f"{script.stem}.html").read_text(encoding="utf-8")
            assert "sphx-glr-single-img" in page or "sphx-glr-multi-img" in page, script.name
            assert folder == "gallery" or "sphx-glr-script-out" in page, script.name


def test_formulas_need_no_script(site):
    """They are MathML in the page."""
    page = (site / "meaning.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert not re.search("<script[^>]*mathjax", page, re.IGNORECASE)


def test_search_finds_pages_in_a_browser(site, tmp_path):
    """From files, without a network and without complaints of the browser."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver = start_browser(tmp_path)
    try:
        for word, page in (("retransmission", "verification.html"), ("MarkovChain", "api/bisimetric.MarkovChain.html")):
            driver.get((site / "search.html").as_uri() + f"?q={word}")
            WebDriverWait(driver, PATIENCE).until(
                lambda browser, page=page: browser.find_elements("css selector", f"#search-results a[href*='{page}']")
            )
        assert [entry for entry in driver.get_log("browser") if entry["level"] in {"WARNING", "SEVERE"}] == []
        assert Page(driver, tmp_path).requests() & {"http", "https", "ws", "wss"} == set()
    finally:
        driver.quit()
