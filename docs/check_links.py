"""Look for broken links in the built site: `python docs/check_links.py site`.

Every link inside the site has to lead to a file that is there, and to an anchor in it. Scripts, styles, pictures and
frames have to be files of the site: nothing is loaded from a network. Links to other sites are not followed.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
NOT_LOADED = {
    "canonical",
    "author",
    "search",
    "index",
    "next",
    "prev",
    "help",
}  # kinds of <link> that browsers do not fetch


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names, links to or loads."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif given.get(LOADED.get(tag, "")) and given.get("rel") not in NOT_LOADED:
            self.loaded.append(given[LOADED[tag]])


@cache
def read(path: Path) -> Page:
    """A page of the site."""
    return Page(path.read_text(encoding="utf-8"))


def pages(site: Path) -> list[Path]:
    """All pages of a site; _static holds templates of the theme too."""
    root = site.resolve()
    return [path for path in sorted(root.rglob("*.html")) if path.relative_to(root).parts[0] != "_static"]


def broken(site: Path) -> list[str]:
    """What is wrong with the links of a site, one line each."""
    found = []
    for path in pages(site):
        place = path.relative_to(site.resolve())
        page = read(path)
        found += [f"{place}: loads {link}" for link in page.loaded if not _is_inside(link) and link[:5] != "data:"]
        for link in [*page.links, *page.loaded]:
            if not _is_inside(link):
                continue
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{place}: no file {link}")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors:
                found.append(f"{place}: no anchor {link}")
    return found


def _is_inside(link: str) -> bool:
    parts = urlsplit(link)
    return not parts.scheme and not parts.netloc


def main() -> int:
    """Print what is broken; 1 if anything is."""
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "index.html").is_file():
        print("python docs/check_links.py SITE, the folder that Sphinx wrote", file=sys.stderr)
        return 2
    found = broken(Path(sys.argv[1]))
    print("\n".join(found) if found else f"{len(pages(Path(sys.argv[1])))} pages, no broken links")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
