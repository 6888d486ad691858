"""`bisimetric compare` as its users see it."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tests.estimation.logs import logs


@pytest.fixture
def files(tmp_path):
    """Two logs in files, and the options that name their columns."""
    for name, log in zip(("before.parquet", "after.csv"), logs("changed"), strict=True):
        rows = [(f"s{k}", t, page) for k, visit in enumerate(log) for t, page in enumerate(visit)]
        frame = pd.DataFrame(rows, columns=["session", "time", "page"])
        if name.endswith("csv"):
            frame.to_csv(tmp_path / name, index=False)
        else:
            frame.to_parquet(tmp_path / name)
    columns = ["--by", "session", "--state", "page", "--step", "time", "--discount", "0.8", "--resamples", "5"]
    return [str(tmp_path / "before.parquet"), str(tmp_path / "after.csv"), *columns]


def test_the_answer_in_words(command, files):
    """A sentence, the statements, the transitions."""
    done = command("compare", *files, "--resamples", "20")
    assert done.code == 0
    assert done.out.startswith("Behaviour changed")
    for word in ("computation", "p-value", "guarantee", "product", "cart"):
        assert word in done.out


def test_json(command, files):
    """All keys of the help."""
    done = command("compare", *files, "--json")
    document = done.document
    assert document["p_value"] == 1 / 6
    assert len(document["null"]) == 5
    assert document["only"] == [[], ["reviews"]]
    assert {change["source"] for change in document["changed"]} == {"product"}
    assert set(document) == set(json.loads(done.out))
    help_text = command("compare", "--help").out
    assert all(key in help_text for key in document)


def test_files_are_written(command, files, tmp_path):
    """A picture and a page."""
    done = command("compare", *files, "--plot", tmp_path / "change.png", "--report", tmp_path / "change.html", "-q")
    assert done.code == 0
    assert len(done.out.strip().splitlines()) <= 6
    assert (tmp_path / "change.png").stat().st_size > 0
    assert b"bisimetric compare" in (tmp_path / "change.html").read_bytes()


def test_a_gate_for_pipelines(command, files):
    """Exit code 1 where the p-value is small."""
    assert command("compare", *files, "--fail-below", "0.5").code == 1
    assert command("compare", *files, "--fail-below", "0.1").code == 0


def test_errors_name_the_file(command, files):
    """And the column that is missing."""
    done = command("compare", *files, "--state", "pge")
    assert done.code == 2
    assert "before.parquet" in done.err
    assert "did you mean 'page'" in done.err
    assert command("compare", files[0], "missing.parquet", *files[2:]).code == 2
    assert command("compare", *files, "--fail-below", "7").code == 2


BAD_FILES = {
    "the same step twice": (lambda log: pd.concat([log, log.iloc[3:4]]), "has the step 3 twice"),
    "a missing state": (lambda log: log.assign(page=log.page.where(log.index != 5)), "row 5 of column 'page'"),
    "one sequence": (lambda log: log[log.session == "s0"], "one sequence"),
    "no rows": (lambda log: log[:0], "the log is empty"),
    "no sequence of two rows": (lambda log: log.assign(session=range(len(log))), "no transition"),
    "times of a clock": (lambda log: log.assign(time=[f"{t}:30" for t in log.time]), "all with a time zone"),
    "some times with a zone": (
        lambda log: log.assign(time=[f"2024-03-31T{t % 24:02}:30:00{'Z' * (t == 1)}" for t in log.time]),
        "all with a time zone or all without",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD_FILES)
def test_bad_logs_are_one_line(command, files, tmp_path, what):
    """The file, what is wrong, what to do; nothing is written."""
    spoil, said = BAD_FILES[what]
    spoil(pd.read_parquet(files[0])).to_csv(tmp_path / "mine.csv", index=False)
    done = command("compare", tmp_path / "mine.csv", *files[1:], "--report", tmp_path / "r.html")
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "r.html").exists()


def test_an_empty_file(command, files, tmp_path):
    """Not even a header."""
    (tmp_path / "mine.csv").write_bytes(b"")
    done = command("compare", tmp_path / "mine.csv", *files[1:])
    assert done.code == 2
    assert "mine.csv: is empty" in done.err


def test_rows_in_any_order_and_times_of_any_zone(command, files, tmp_path):
    """The same distance, and a note where rows were sorted."""
    expected = command("compare", *files, "--json", "--resamples", "1").document
    log = pd.read_parquet(files[0])
    log["time"] = pd.Timestamp("2024-03-31T00:30", tz="Europe/Berlin") + pd.to_timedelta(log.time, unit="h")
    log.sample(frac=1, random_state=0).to_csv(tmp_path / "mine.csv", index=False)
    found = command("compare", tmp_path / "mine.csv", *files[1:], "--json", "--resamples", "1").document
    assert found["distance"] == pytest.approx(expected["distance"], rel=1e-9)
    assert any("rows were sorted" in note for note in found["notes"])
