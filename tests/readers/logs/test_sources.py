"""Frames, tables and files of every kind give the same rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bisimetric as bm
from bisimetric.readers.logs import sources
from bisimetric.readers.logs.columns import Log
from bisimetric.readers.logs.sources import Roles

FRAME = pd.DataFrame(
    {
        "session": ["u", "u", "u", "v", "v"],
        "time": pd.to_datetime([1, 2, 3, 1, 2], unit="s", utc=True),
        "page": ["home", "cart", "home", "cart", "paid"],
        "worth": [0.0, 1.0, 2.0, 3.0, 4.0],
    }
)
ROLES = Roles("session", "time", "page", "worth")


class OnlyInterchange:
    """A frame of another package: the dataframe interchange protocol and nothing else."""

    def __init__(self, table):
        self._table = table

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._table.__dataframe__(nan_as_null, allow_copy)


class OnlyCapsule:
    """A frame of another package: the Arrow PyCapsule interface and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


PLAIN = pa.Table.from_pandas(FRAME, preserve_index=False)
TABLES = {
    "pandas": FRAME,
    "pandas categories": FRAME.astype({"page": "category", "session": "category"}),
    "another time zone": FRAME.assign(time=FRAME.time.dt.tz_convert("Asia/Kolkata")),
    "numbers as steps": FRAME.assign(time=[1, 2, 3, 1, 2]),
    "polars": pl.from_pandas(FRAME),
    "arrow": PLAIN,
    "arrow stream": PLAIN.to_reader(),
    "capsule": OnlyCapsule(PLAIN),
    "interchange": OnlyInterchange(PLAIN),
    "dict of columns": {name: FRAME[name].tolist() for name in FRAME} | {"time": [1, 2, 3, 1, 2]},
}


def rows(data, roles=ROLES):
    """All rows of a log as lists, steps as differences within the first session."""
    log = Log(data, roles)
    (batch,) = log.batches()
    pages = [log.states.values[k] for k in batch.state]
    step = None if batch.step is None else np.sign(np.diff(batch.step)).tolist()
    return batch.sequence.tolist(), pages, step, batch.reward.tolist()


EXPECTED = ([0, 0, 0, 1, 1], FRAME.page.tolist(), [1, 1, -1, 1], FRAME.worth.tolist())


@pytest.mark.parametrize("kind", TABLES)
def test_frames_of_all_packages(kind):
    """They share protocols, and no package is special."""
    assert rows(TABLES[kind]) == EXPECTED


@pytest.mark.parametrize("name", ["log.parquet", "log.csv", "log.csv.gz", "log.tsv"])
def test_files(tmp_path, name):
    """Parquet, and CSV with commas or tabs, compressed or not."""
    path = tmp_path / name
    if name.endswith("parquet"):
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    assert rows(path) == EXPECTED
    assert rows(str(path)) == EXPECTED


def test_files_come_in_batches(tmp_path, monkeypatch):
    """So that memory does not grow with them."""
    FRAME.to_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(sources, "BATCH_ROWS", 2)
    batches = list(Log(tmp_path / "log.parquet", ROLES).batches())
    assert [len(batch.state) for batch in batches] == [2, 2, 1]
    assert [batch.sequence.tolist() for batch in batches] == [[0, 0], [0, 1], [1]]


def test_bad_options_and_files(tmp_path):
    """Columns that are not given, columns of a list, a file that is none."""
    with pytest.raises(bm.errors.InvalidOption, match="sequence is missing"):
        Log(FRAME, Roles(None, "time", "page"))
    with pytest.raises(bm.errors.InvalidOption, match="no table"):
        Log([["a", "b"]], ROLES)
    (tmp_path / "log.parquet").write_bytes(b"no Parquet at all")
    for name in ("log.parquet", "missing.parquet", "missing.csv"):
        with pytest.raises(bm.errors.FileFormatError, match=name):
            list(Log(tmp_path / name, ROLES).batches())
    (tmp_path / "log.csv").write_text("session,page\nu,home\nu\n")
    with pytest.raises(bm.errors.FileFormatError, match=r"log\.csv"):
        list(Log(tmp_path / "log.csv", Roles("session", None, "page")).batches())


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_another_separator_is_named(tmp_path, mark):
    """Instead of a column that is missing."""
    FRAME.to_csv(tmp_path / "log.csv", index=False, sep=mark)
    with pytest.raises(bm.errors.InvalidData, match="separated by") as caught:
        list(Log(tmp_path / "log.csv", ROLES).batches())
    assert f"sep={mark!r}" in str(caught.value)


def test_pyarrow_is_named_where_it_is_missing(monkeypatch):
    """With the extra that installs it; lists need none."""
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(bm.errors.MissingExtra, match=r"bisimetric\[data\]"):
        Log(FRAME, ROLES)
    assert len(list(Log([["a", "b"]], Roles(None, None, None)).batches())) == 1
