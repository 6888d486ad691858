"""What tests of files share."""

from __future__ import annotations

import pytest


@pytest.fixture
def small_blocks(monkeypatch):
    """Called, files are written in blocks of a hundred cells and entries from then on."""

    def shrink():
        monkeypatch.setattr("bisimetric.io.witnesses.CELLS_AT_ONCE", 100)
        monkeypatch.setattr("bisimetric.io.document.ENTRIES_AT_ONCE", 100)

    return shrink
