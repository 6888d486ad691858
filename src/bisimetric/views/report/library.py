"""The JavaScript that draws the charts: Vega-Lite, with everything it needs, from the package vl-convert-python."""

from __future__ import annotations

from functools import lru_cache

from bisimetric.errors import MissingExtra


@lru_cache(maxsize=1)
def chart_library() -> str:
    """Source code that defines `window.vegaEmbed`; it needs no network. Takes half a CPU second once in a process."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("reports need vl-convert-python, which is missing: pip install 'bisimetric[plot]'") from None
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
