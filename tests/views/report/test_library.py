"""The charts' JavaScript comes from its package."""

from __future__ import annotations

import re
import sys

import pytest

from bisimetric.errors import MissingExtra
from bisimetric.views.report.library import chart_library


def test_it_defines_what_the_page_calls_and_fits_into_a_script_element():
    """Nothing in it ends the element."""
    code = chart_library()
    assert "window.vegaEmbed" in code
    assert not re.search("</script|<!--", code, re.IGNORECASE)
    assert "\r" not in code
    assert "\0" not in code
    assert len(code) < 1_200_000


def test_a_missing_package_is_named(monkeypatch):
    """With the command that installs it."""
    chart_library.cache_clear()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r"pip install 'bisimetric\[plot\]'"):
        chart_library()
