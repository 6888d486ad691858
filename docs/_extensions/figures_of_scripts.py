"""Pictures of the scripts in examples/: every new figure that a block leaves in a variable is shown below it.

Figures are made without pyplot, where sphinx-gallery would look for them.
"""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

from bisimetric import plot


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Write the block's new figures to files, and return the reStructuredText that shows them."""
    shown = block_vars["example_globals"].setdefault("__shown__", [])
    paths = []
    for thing in list(block_vars["example_globals"].values()):
        if isinstance(thing, Figure) and not any(thing is old for old in shown):
            shown.append(thing)
            path = next(block_vars["image_path_iterator"])
            plot.save(thing, path)
            paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
