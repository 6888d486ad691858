"""Columns that cannot be numbers of states, steps or rewards are refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bisimetric as bm
from bisimetric.readers.logs.columns import Log
from bisimetric.readers.logs.sources import Roles
from tests.readers.logs.test_sources import FRAME, ROLES

NOON = datetime(2024, 3, 31, 12)
MIXED_TIMES = [NOON.replace(tzinfo=UTC), *(NOON + k * timedelta(hours=1) for k in range(4))]
BAD_COLUMNS = {
    "no such column": (FRAME, ROLES._replace(state="pge"), "did you mean 'page'"),
    "a gap in states": (FRAME.assign(page=FRAME.page.where(FRAME.page != "paid")), ROLES, "row 4 .*'page'.*fillna"),
    "a gap in steps": (FRAME.assign(time=FRAME.time.where(FRAME.worth != 2)), ROLES, "row 2 .*'time'"),
    "a gap in sessions": (FRAME.assign(session=FRAME.session.where(FRAME.worth != 0)), ROLES, "row 0 .*'session'"),
    "a gap in rewards": (FRAME.assign(worth=FRAME.worth.where(FRAME.worth != 3)), ROLES, "row 3 .*'worth'"),
    "infinite rewards": (FRAME.assign(worth=np.inf), ROLES, "infinite"),
    "text as rewards": (FRAME.assign(worth="much"), ROLES, "'worth'.*astype"),
    "text as steps": (FRAME.assign(time="noon"), ROLES, "'time'.*'noon'.*time zone.*to_datetime"),
    "times with and without a zone": (FRAME.assign(time=MIXED_TIMES), ROLES, "'time'.*zone.*tz_localize"),
    "such times in a dict": ({"u": [1] * 5, "v": [2] * 5, "t": MIXED_TIMES}, Roles("u", "t", "v"), "'t'.*tz_localize"),
    "true and numbers": (FRAME.assign(page=[1, True, 2, 3, 4]), ROLES, "astype"),
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


def test_instants_of_all_zones_have_one_order():
    """Whatever a clock on a wall shows."""
    east, west = (timezone(timedelta(hours=hours)) for hours in (9, -5))
    times = [
        datetime(2024, 1, 1, 9, tzinfo=east),
        datetime(2023, 12, 31, 20, tzinfo=west),
        datetime(2024, 1, 1, 2, tzinfo=UTC),
    ]
    frame = pd.DataFrame({"u": 1, "page": list("abc"), "t": pd.Series(times, dtype=object)})
    assert bm.from_trajectories(frame, sequence="u", state="page", step="t").counts.toarray().tolist() == [
        [0, 1, 0], [0, 0, 1], [0, 0, 0]
    ]  # fmt: skip
