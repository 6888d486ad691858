"""Two blocks of code that follow each other directly stand side by side where the page is wide enough."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

PAGES = {"coming-from"}


def pair_blocks(app: Sphinx, doctree: nodes.document) -> None:
    """Wrap every two neighbouring blocks into a container, which the style sheet makes a row."""
    if app.env.docname not in PAGES:
        return
    for first in list(doctree.findall(nodes.literal_block)):
        parent = first.parent
        after = parent[parent.index(first) + 1 :][:1]
        if after and isinstance(after[0], nodes.literal_block):
            row = nodes.container(classes=["side-by-side"])
            parent.replace(first, row)
            parent.remove(after[0])
            row += [first, after[0]]


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page after it was read."""
    app.connect("doctree-read", pair_blocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
