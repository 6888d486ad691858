"""Chains whose reports are looked at."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

import bisimetric as bm

PROTOCOL = ("idle", "send", "wait ack", "done", "lost")
HOSTILE = (
    "</script><svg onload=document.title='owned'>",
    "<img src=x onerror=document.title='owned'>",
    "<!--<script>",
    "@SCRIPT@ @DATA@",
    "${document.title='owned'} \\u003c \u2028\u202e\ud800\x00 'q\" & &lt;b&gt;",
)
ODD = (
    "__proto__",
    "constructor",
    '"><img src=x onerror=document.title="owned">',
    "</script><svg onload=alert(1)>",
    "two\u2028lines\nand\ttabs",
    "a very long name " * 30,
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "toString",
    "=1+1",
)


def protocol(loss: float, **options: Any) -> bm.MarkovChain:
    """Sends a message until it arrives."""
    rows = [
        [0.2, 0.8, 0, 0, 0],
        [0, 0, 1 - loss, 0, loss],
        [0, loss / 2, 0, 1 - loss / 2, 0],
        [0.5, 0, 0, 0.5, 0],
        [0, 0.9, 0, 0, 0.1],
    ]
    return bm.MarkovChain(rows, **({"reward": [0, 0, 0, 1, 0], "start": 0, "names": PROTOCOL} | options))


def protocols() -> bm.Solution:
    """A good line against a bad one."""
    return bm.distance(protocol(0.05), protocol(0.2), discount=0.9)


def random_solution(n: int, m: int, successors: int, **options: Any) -> bm.Solution:
    """Two chains without names and a random cost; the couplings of a few steps are enough to look at."""
    random = np.random.default_rng(n)
    chains = [_random_chain(random, states, successors) for states in (n, m)]
    return bm.distance(*chains, discount=0.8, cost=random.random((n, m)), **({"tol": 1e-3} | options))


def _random_chain(random: np.random.Generator, states: int, successors: int) -> bm.MarkovChain:
    rows = np.zeros((states, states))
    for row in rows:
        row[random.choice(states, successors, replace=False)] = random.dirichlet(np.full(successors, 0.7))
    return bm.MarkovChain(rows, start=0)


def decision_process() -> bm.MDP:
    """Three states and two actions, one of which the last state does not have."""
    stay, go = np.eye(3), [[0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]]
    return bm.MDP([stay, go], [[0, 0], [1, 0], [0.2, 0.5]], start=0, actions=["stay", "go"], names=["a", "b", "c"])


def table_of_points(places: np.ndarray) -> bm.Distances:
    """A table of the distances between points, as if `pairwise` had made it."""
    value = np.linalg.norm(places[:, None] - places[None], axis=2)
    status = np.full(value.shape, bm.Status.SOLVED, dtype=object)
    return bm.Distances(value, 0.99 * value, 1.01 * value, status)


class Elements(HTMLParser):
    """The elements of a page, and the text of its data element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data = ""
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        self.data += data if self._inside else ""


def data_of(page: str | Path) -> dict[str, Any]:
    """What a page knows."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else page
    found: dict[str, Any] = json.loads(Elements(text).data)
    return found
