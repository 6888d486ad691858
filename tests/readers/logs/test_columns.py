"""Columns that cannot be numbers of states, steps or rewards are refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import bisimetric as bm
from bisimetric.readers.logs.columns import Log
from bisimetric.readers.logs.sources import Roles
from tests.readers.logs.test_sources import FRAME, ROLES

BAD_COLUMNS = {
    "no such column": (FRAME, ROLES._replace(state="pge"), "did you mean 'page'"),
    "a gap in states": (FRAME.assign(page=FRAME.page.where(FRAME.page != "paid")), ROLES, "row 4 .*'page'.*fillna"),
    "a gap in steps": (FRAME.assign(time=FRAME.time.where(FRAME.worth != 2)), ROLES, "row 2 .*'time'"),
    "a gap in sessions": (FRAME.assign(session=FRAME.session.where(FRAME.worth != 0)), ROLES, "row 0 .*'session'"),
    "a gap in rewards": (FRAME.assign(worth=FRAME.worth.where(FRAME.worth != 3)), ROLES, "row 3 .*'worth'"),
    "infinite rewards": (FRAME.assign(worth=np.inf), ROLES, "infinite"),
    "text as rewards": (FRAME.assign(worth="much"), ROLES, "'worth'.*astype"),
    "text as steps": (FRAME.assign(time="noon"), ROLES, "'time'.*to_datetime"),
    "mixed states": (FRAME.assign(page=["a", 1, 2, 3, 4]), ROLES, "astype"),
    "measurements as states": (FRAME.assign(page=FRAME.worth + 0.5), ROLES, "'page'.*group"),
    "times as states": (FRAME, ROLES._replace(state="time"), "'time'"),
    "lists as states": (FRAME.assign(page=[[1]] * 5), ROLES, "'page'"),
    "a lazy frame": (pl.from_pandas(FRAME).lazy(), ROLES, "collect"),
    "a text": ("log", ROLES, "another kind"),
    "a number": (7, Roles(None, None, None), "a data frame"),
    "texts for sequences": (["ab", "cd"], Roles(None, None, None), r"data\[0\]"),
    "a gap in a list": ([["a", None]], Roles(None, None, None), r"data\[0\]\[1\]"),
}


@pytest.mark.parametrize("what", BAD_COLUMNS)
def test_bad_columns_are_errors_with_a_remedy(what):
    """Nothing is dropped, filled or guessed."""
    data, roles, message = BAD_COLUMNS[what]
    with pytest.raises(bm.errors.InvalidData, match=message):
        list(Log(data, roles).batches())
