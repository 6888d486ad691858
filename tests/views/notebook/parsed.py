"""HTML of notebooks, read with a parser: its texts, and a proof that it is inert."""

from __future__ import annotations

from html.parser import HTMLParser

import bisimetric as bm

EVIL = "</script><svg onload=alert(1)>\"'&\x1b[31m\u202e"
TAGS = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "img"}
ATTRIBUTES = {"style", "scope", "alt", "src", "width", "height"}


class Page(HTMLParser):
    """The cells and texts of some HTML; anything that could act makes it fail."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.images = 0
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open
        assert html.isprintable()

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, name
            assert name != "src" or value.startswith("data:image/png;base64,")
            assert name != "style" or "url" not in value
        if tag == "img":
            self.images += 1
            self.texts.append(dict(attrs)["alt"])
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All texts, one a line."""
        return "\n".join(self.texts)


def page(thing: object) -> Page:
    """What a notebook shows of an object."""
    return Page(thing._repr_html_())


HOSTILE = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0, names=[EVIL, "busy"], labels=[EVIL, ("a", EVIL)])
HOSTILE_MDP = bm.MDP(
    [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], [[0, 0], [1, 0]], start=0, names=[EVIL, "b"], actions=[EVIL, "go"]
)
