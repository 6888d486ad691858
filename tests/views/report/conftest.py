"""One browser for all tests of reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.views.report.browser import Page, start_browser


@pytest.fixture(scope="session")
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
