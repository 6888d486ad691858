"""`bisimetric pairwise`: numbers, files, stores, pictures."""

import csv
import io
import json

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.cli import pairwise
from bisimetric.cli.distance_tables import as_csv, inert_cell
from bisimetric.errors import PairwiseInterrupted

ROOMS = ["four-rooms:p0", "four-rooms:p1", "four-rooms:p2"]
KEYS = {
    "rows", "columns", "value", "lower", "upper", "status", "gap", "discount", "cost", "normalised", "solver",
    "output", "seconds", "memory_bytes",
}  # fmt: skip


@pytest.fixture(scope="module")
def expected():
    """The library's table."""
    return bm.pairwise(ROOMS, discount=0.9)


def test_json(command, expected):
    """The library's numbers under the documented keys."""
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert set(document) == KEYS
    assert document["value"] == expected.value.tolist()
    assert document["upper"] == expected.upper.tolist()
    assert document["status"] == [["SOLVED"] * 3] * 3
    text = command("pairwise", "--help").out
    assert all(key in text for key in KEYS)


@pytest.mark.parametrize("suffix", ["csv", "npz", "json"])
def test_files(command, tmp_path, expected, suffix):
    """Every format holds the same numbers, bit for bit, and the names."""
    file = tmp_path / f"D.{suffix}"
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--out", file, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    if suffix == "csv":
        head, *rows = csv.reader(io.StringIO(file.read_text()))
        assert head == ["", *ROOMS]
        assert [row[0] for row in rows] == ROOMS
        assert [[float(cell) for cell in row[1:]] for row in rows] == expected.value.tolist()
    elif suffix == "npz":
        with np.load(file, allow_pickle=False) as stored:
            assert (stored["value"] == expected.value).all()
            assert (stored["lower"] == expected.lower).all()
            assert stored["rows"].tolist() == stored["columns"].tolist() == ROOMS
            assert set(stored["status"].ravel()) == {"SOLVED"}
    else:
        assert json.loads(file.read_text())["value"] == expected.value.tolist()


def test_stdout(command, expected):
    """`--out -` prints the CSV and nothing else."""
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--out", "-")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == as_csv(expected, ROOMS, ROOMS)
    assert "both go to stdout" in command("pairwise", *ROOMS, "--discount", 0.9, "--out", "-", "--json").err


def test_text(command):
    """A small table whole, a large one by its closest and farthest pairs; at most 80 columns."""
    small = command("pairwise", *ROOMS, "--discount", 0.9)
    assert "0.137416" in small.out
    large = command("pairwise", *(f"open-grid:{k}" for k in range(1, 9)), "--discount", 0.5)
    assert "Closest chains" in large.out
    assert "Farthest chains" in large.out
    for ran in (small, large):
        assert (ran.code, ran.err) == (0, "")
        assert max(map(len, ran.out.splitlines())) <= 80


def test_against_others(command):
    """A table of rows and columns."""
    document = command("pairwise", *ROOMS[:2], "--against", ROOMS[2], "--discount", 0.9, "--json").document
    assert (document["rows"], document["columns"]) == (ROOMS[:2], ROOMS[2:])
    assert np.shape(document["value"]) == (2, 1)
    assert "four-rooms:p2" in command("pairwise", *ROOMS[:2], "--against", ROOMS[2], "--discount", 0.9).out


def test_a_store_is_used_again(command, tmp_path, monkeypatch):
    """After an interrupt the same command continues, and says how far it was."""
    store = tmp_path / "pairs"
    real = pairwise.pairwise

    def interrupted(*arguments, on_pair, **options):
        def stop(pair):
            on_pair(pair)
            raise KeyboardInterrupt

        return real(*arguments, on_pair=stop, **options)

    arguments = ("pairwise", *ROOMS, "--discount", 0.9, "--store", store)
    monkeypatch.setattr(pairwise, "pairwise", interrupted)
    ran = command(*arguments)
    assert ran.code == 130
    assert "1 of 3" in ran.err
    solved = []

    def counted(*arguments, on_pair, **options):
        return real(*arguments, on_pair=lambda pair: (solved.append(pair), on_pair(pair)), **options)

    monkeypatch.setattr(pairwise, "pairwise", counted)
    assert command(*arguments).code == 0
    assert len(solved) == 2


def test_progress(monkeypatch, command):
    """The line on stderr counts pairs."""
    said = []

    class Told(pairwise.Progress):
        def doing(self, what):
            said.append(what)

    monkeypatch.setattr(pairwise, "Progress", Told)
    command("pairwise", *ROOMS, "--discount", 0.9)
    assert said == ["reading", "solving", "pair 1 of 3", "pair 2 of 3", "pair 3 of 3"]


def test_picture(command, tmp_path):
    """The chains as points."""
    file = tmp_path / "map.svg"
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--plot", file)
    assert ran.code == 0
    assert "four-rooms:p1" in file.read_text()
    assert f"the picture is in {file}" in ran.err
    ran = command("pairwise", *ROOMS, "--against", "grid-3x3", "--discount", 0.9, "--plot", file)
    assert ran.code == 0
    assert "grid-3x3" in file.read_text()


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1"])
def test_names_are_no_formulas(name):
    """A spreadsheet shows them as text; other readers get them quoted."""
    assert inert_cell(name)[0] not in "=+-@\t\r\n"
    assert inert_cell(name).lstrip()[0] not in "=+-@"
    cells = as_csv(bm.pairwise(["grid-3x3"], discount=0.5), [name], [name])
    assert len(list(csv.reader(io.StringIO(cells)))) == 2


def test_a_file_whose_name_is_a_formula(command, chain_file, tmp_path, monkeypatch):
    """From the command line to the cell."""
    chain_file("=cmd.json", start=0)
    monkeypatch.chdir(tmp_path)
    assert command("pairwise", "=cmd.json", "=cmd.json", "--discount", 0.9, "--out", "D.csv").code == 0
    assert next(csv.reader(io.StringIO((tmp_path / "D.csv").read_text()))) == ["", "'=cmd.json", "'=cmd.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "D.txt"), ".csv or .npz or .json"),
        (("--jobs", 0), "--jobs is 0"),
        (("--cost", "rewards"), "'reward', 'labels'"),
        (("--solver", "simplex"), "--solver is 'simplex'"),
        (("--store", "/dev/null/x"), "/dev/null/x"),
    ],
)
def test_bad_input(command, arguments, message):
    """One line, code 2."""
    ran = command("pairwise", "grid-3x3", "open-grid:3", "--discount", 0.9, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_a_chain_without_a_start(command, chain_file):
    """The error names the chain."""
    ran = command("pairwise", "grid-3x3", chain_file("lost.json"), "--discount", 0.9)
    assert ran.code == 2
    assert "lost.json has no start" in ran.err


def test_a_missed_tolerance(command, tmp_path):
    """Undecided, as for `distance`; the table is printed and written all the same."""
    out = tmp_path / "D.json"
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--solver", "sinkhorn-value-iteration", "--set", "rounds=1",
                  "--tol", 1e-9, "--out", out)  # fmt: skip
    assert ran.code == 3
    assert "the tolerance 1e-09 was not reached" in ran.err
    assert "between four-rooms:p0 and four-rooms:p1" in ran.err
    assert "take an exact solver" in ran.err
    assert "four-rooms:p1" in ran.out
    document = json.loads(out.read_text())
    assert document["lower"][0][1] <= document["value"][0][1] <= document["upper"][0][1]
    exact = command("pairwise", *ROOMS, "--discount", 0.9, "--tol", 1e-30)
    assert exact.code == 3
    assert "raise --tol" in exact.err


def test_interrupted_before_the_first_pair(command, monkeypatch):
    """Code 130 and one line."""

    def interrupted(*_, **__):
        raise PairwiseInterrupted("interrupted before the first pair", 0, 0)

    monkeypatch.setattr(pairwise, "pairwise", interrupted)
    ran = command("pairwise", *ROOMS, "--discount", 0.9)
    assert (ran.code, ran.err) == (130, "bisimetric: interrupted before the first pair\n")


# ------------------------------------------------------------------ decision processes, limits, failures


def test_decision_processes(command, tmp_path):
    """Files of some are compared as such; a policy makes chains of them."""
    stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    mdps = [bm.MDP([stay, go], [[0, 0], [reward, 0]], start=0) for reward in (1, 2)]
    files = [tmp_path / f"{k}.json" for k in range(2)]
    for mdp, file in zip(mdps, files, strict=True):
        mdp.save(file)
    found = command("pairwise", *files, "--discount", 0.5, "--json").document
    assert found["value"] == bm.pairwise(mdps, discount=0.5).value.tolist()
    assert found["normalised"] is True
    matched = command("pairwise", *files, "--discount", 0.5, "--actions", "matched", "--json")
    assert matched.document["value"][0][1] == bm.pairwise(mdps, discount=0.5, actions="matched").value[0, 1]
    under = command("pairwise", *files, "--discount", 0.5, "--policy", "uniform", "--json").document
    assert under["normalised"] is False
    mixed = command("pairwise", files[0], "grid-3x3", "--discount", 0.5)
    assert mixed.code == 2
    assert "mdp.under(policy)" in mixed.err


def test_a_time_limit(command, tmp_path):
    """What is not known is null, and said; all files and pages are written, and the exit code is that of undecided."""
    out = tmp_path / "D.json"
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--time-limit", 1e-9, "--out", out)
    assert ran.code == 3
    assert "6 of 9 distances miss the default tolerance" in ran.err
    assert "raise --time-limit" in ran.err
    assert "6 of them unknown" in ran.out
    document = json.loads(out.read_text())
    assert document["value"][0][1] is None
    assert document["lower"][0][1] == 0.0 < document["upper"][0][1] <= document["gap"]
    assert document["status"][0][1] == "TIME_LIMIT"
    page = tmp_path / "table.html"
    assert command("pairwise", *ROOMS, "--discount", 0.9, "--time-limit", 1e-9, "--report", page).code == 3
    assert "TIME_LIMIT" in page.read_text()
    missed = command("pairwise", *ROOMS, "--discount", 0.9, "--time-limit", 1e-9, "--tol", 1e-6)
    assert missed.code == 3
    assert "--time-limit" in missed.err


def test_a_failing_pair(command, tmp_path, monkeypatch):
    """Is named, and the others are written."""
    from bisimetric.many import question

    solve, third = question.solve, bm.as_chain(ROOMS[2])

    def fail(problem, *arguments, **options):
        if any(np.array_equal(chain.reward, third.reward) for chain in (problem.source, problem.target)):
            raise ZeroDivisionError("third")
        return solve(problem, *arguments, **options)

    monkeypatch.setattr(question, "solve", fail)
    out = tmp_path / "D.csv"
    ran = command("pairwise", *ROOMS[:2], "--against", ROOMS[2], ROOMS[0], "--discount", 0.9, "--out", out)
    assert ran.code == 3
    assert "pair (0, 0), four-rooms:p0 and four-rooms:p2: ZeroDivisionError: third" in ran.err
    assert "2 of 4 distances failed" in ran.err
    assert out.read_text().count("nan") == 2


def test_a_compacted_store(command, tmp_path):
    """On request, with the file of the same call, and only where there is a store."""
    command("pairwise", *ROOMS[:2], "--discount", 0.9, "--store", tmp_path / "store")
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--store", tmp_path / "store", "--compact")
    assert ran.code == 0
    assert "2 files merged, 0 left" in ran.err
    assert len(list((tmp_path / "store").iterdir())) == 1
    assert command("pairwise", *ROOMS, "--discount", 0.9, "--compact").code == 2


def test_a_backend(command, expected):
    """By its name; unknown ones are refused."""
    ran = command("pairwise", *ROOMS, "--discount", 0.9, "--jobs", 2, "--backend", "threading", "--json")
    assert ran.document["value"] == expected.value.tolist()
    wrong = command("pairwise", *ROOMS, "--discount", 0.9, "--jobs", 2, "--backend", "thread")
    assert (wrong.code, "backend is" in wrong.err) == (2, True)
