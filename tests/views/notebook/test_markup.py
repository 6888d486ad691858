"""Blocks become inert HTML; matrices become numbers or pictures."""

from __future__ import annotations

import base64
import re
import zlib

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.views.notebook import NOTEBOOK_VIEWS
from bisimetric.views.notebook.markup import DARKEST, HUE, MOST_SIDE, Listing, Matrix, as_html
from tests.views.notebook.parsed import EVIL, HOSTILE, HOSTILE_MDP, Page, page


def pixels(html):
    """Opacities and colours of the picture in some HTML."""
    data = base64.b64decode(re.search('base64,([^"]*)', html)[1])
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    begin = data.index(b"IDAT") + 4
    lines = np.frombuffer(zlib.decompress(data[begin : data.index(b"IEND") - 8]), np.uint8).reshape(height, -1)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, 4)


def test_a_picture_has_a_pixel_for_every_cell():
    """In one hue; the largest number is the strongest, unknown ones are transparent."""
    values = np.arange(200.0).reshape(10, 20)
    values[3, 4] = np.nan
    found = pixels(as_html([Matrix(values, str, str, "numbers")]))
    assert found.shape == (10, 20, 4)
    assert (found[..., :3] == HUE).all()
    assert found[0, 0, 3] == found[3, 4, 3] == 0
    assert found[-1, -1, 3] == found.max(axis=(0, 1))[3] == round(DARKEST * 255)


def test_large_matrices_are_means():
    """Of blocks, and the text says so; a whole notebook stays small."""
    values = np.ones((1000, 3))
    html = as_html([Matrix(values, str, str, "numbers")])
    assert pixels(html).shape[0] <= MOST_SIDE
    assert "means over blocks of 11 x 1" in Page(html).text
    assert len(html) < 5000


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_any_scale(scale):
    """Also numbers that are all zero, unknown or infinite."""
    for values in (scale * np.eye(20), np.zeros((20, 20)), np.full((20, 20), np.nan), np.full((3, 3), np.inf)):
        Page(as_html([Matrix(values, str, str, "numbers")]))


def test_small_matrices_have_numbers():
    """And names; unknown numbers are empty."""
    shown = Page(as_html([Matrix(np.array([[0.25, np.nan]]), lambda k: EVIL, "ab".__getitem__, "what")]))
    assert {"0.25", "a", "b", "what"} <= set(shown.texts)
    assert "nan" not in shown.text
    assert shown.images == 0


def test_numbers_stand_to_the_right():
    """Columns of numbers; a table may be empty."""
    html = as_html([Listing(("name", "number"), [("1a", "1.5"), ("b", "20%")])])
    assert html.count("text-align:right") == 3
    Page(as_html([Listing(("name", "number"), [])]))


def test_every_kind_of_object_is_inert():
    """Hostile names of states, actions and labels do nothing in any of them."""
    solution = bm.distance(HOSTILE, HOSTILE.with_start(1), discount=0.5)
    game = bm.bisimulation_metric(HOSTILE_MDP, HOSTILE_MDP.with_start(1), discount=0.5)
    timed = bm.solve(bm.HorizonProblem(HOSTILE, HOSTILE.with_start(1), horizon=2))
    average = bm.average_distance(HOSTILE, HOSTILE.with_start(1))
    things = [
        timed, timed.coupling, timed.coupling[0, 0, 1], timed.potentials, timed.gradient(), timed.explain(),
        average, average.coupling, average.potentials, average.explain(),
        HOSTILE, HOSTILE_MDP, HOSTILE_MDP.optimal_policy(discount=0.5), solution, solution.problem,
        solution.certificate, solution.coupling, solution.coupling[0, 1], solution.potentials, solution.explain(),
        solution.explain().path,
        solution.assignment(), game, game.problem, game.coupling, game.coupling[0, 1], game.potentials, game.explain(),
        bm.aggregate(HOSTILE, n_states=1, discount=0.5), bm.aggregate(HOSTILE_MDP, n_states=1, discount=0.5),
        bm.pairwise([HOSTILE, HOSTILE], discount=0.5), bm.HorizonProblem(HOSTILE, HOSTILE, horizon=2),
        solution.gradient(), game.gradient(), bm.reduce(HOSTILE, 1, discount=0.5, descents=0),
    ]  # fmt: skip
    for thing in things:
        page(thing)
        assert all(line.isprintable() for line in repr(thing).splitlines())
    classes = {kind.__name__ for thing in things for kind in type(thing).__mro__}
    assert set(NOTEBOOK_VIEWS) <= classes
