"""`bisimetric distance`: the numbers, the text, the JSON and the files."""

import json
import re

import numpy as np
import pytest

from bisimetric.errors import SolverFailed

ROOMS = ("distance", "four-rooms:p1", "four-rooms:p0", "--discount", 0.95)
KNOWN = 0.4355817651
KEYS = {
    "distance", "lower", "upper", "gap", "relative_gap", "tol", "tol_reached", "source", "target", "states",
    "kind", "cost", "discount", "normalised",
    "solver", "status", "message", "steps", "history", "seconds", "memory_bytes", "explain", "explain_rest",
    "explain_path", "summary", "match", "limit",
}  # fmt: skip


def test_the_readme_command(process):
    """The known number with its interval and its explanation, in at most 80 columns, silent on stderr, no colours."""
    ran = process(*ROOMS)
    assert ran.code == 0
    assert "0.43558176" in ran.out
    assert "sum of discounted costs" in ran.out
    assert "SOLVED" in ran.out
    assert "40 × 40" in ran.out
    assert "CPU" in ran.out
    assert "Where it comes from" in ran.out
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in ran.out.splitlines())
    assert all(line.startswith("bisimetric: compiling kernels for ") for line in ran.err.splitlines())


def test_printed_interval_holds(command):
    """The bounds as printed are no tighter than those computed, and the distance is between them."""
    loose = ("--tol", 0.01)
    computed = command(*ROOMS, *loose, "--json").document
    text = command(*ROOMS, *loose).out
    lower, upper = (float(end) for end in re.search(r"in \[(\S+), (\S+)\]", text).groups())
    distance = float(re.search(r"distance +(\S+)", text).group(1))
    assert lower <= computed["lower"] <= computed["upper"] <= upper
    assert lower <= distance <= upper


def test_json_schema(command):
    """One object with the documented keys, and the known number."""
    ran = command(*ROOMS, "--json")
    document = ran.document
    assert (ran.code, ran.err) == (0, "")
    assert set(document) == KEYS
    assert document["distance"] == pytest.approx(KNOWN, abs=1e-9)
    assert document["lower"] <= KNOWN + 5e-11
    assert document["upper"] >= KNOWN - 5e-11
    assert document["states"] == [40, 40]
    assert (document["discount"], document["normalised"]) == (0.95, False)
    assert (document["solver"], document["status"]) == ("policy-iteration", "SOLVED")
    assert document["steps"] == len(document["history"]) > 0
    assert set(document["history"][0]) == {"step", "gap", "seconds"}
    assert set(document["seconds"]) == {"cpu", "wall"}
    assert set(document["explain"][0]) == {"source", "target", "occupancy", "cost", "amount", "share"}
    parts = sum(part["amount"] for part in document["explain"]) + document["explain_rest"]
    assert parts == pytest.approx(KNOWN, abs=1e-8)
    assert document["summary"] is None
    assert document["limit"] is None


def test_json_keys_are_documented(command):
    """The help explains every key."""
    text = command("distance", "--help").out
    assert all(re.search(rf"\b{key}\b", text) for key in KEYS)


def test_costs_are_those_given(command, chain_file):
    """--normalised changes the distance and the amounts, not the costs; occupancies explain the amounts."""
    files = (chain_file("a.json", start=0), chain_file("b.json", start=1))
    for flags, factor in (((), 0.1), (("--normalised",), 1.0)):
        document = command("distance", *files, "--discount", 0.9, "--json", *flags).document
        assert [part["cost"] for part in document["explain"]] == [1.0]
        for part in document["explain"]:
            assert part["amount"] == pytest.approx(part["occupancy"] * part["cost"] / factor)
        text = command("distance", *files, "--discount", 0.9, *flags).out
        assert ("occupancy · cost / (1-γ)" in text) == (not flags)
        assert "occupancy · cost" in text


def test_a_discount_close_to_one(command, chain_file):
    """A discount close to 1 is not shown as 1."""
    file = chain_file(start=0)
    assert "γ = 1-1e-08," in command("distance", file, file, "--discount", 1 - 1e-8).out


def test_a_missed_default_tolerance_is_said(command):
    """A missed default tolerance is reported in the text, in JSON and on stderr."""
    ran = command(*ROOMS, "--max-steps", 1)
    assert "wanted 1e-09, NOT REACHED" in ran.out
    assert "wanted 1e-09; raise --max-steps" in ran.err
    document = command(*ROOMS, "--max-steps", 1, "--json").document
    assert (document["tol"], document["tol_reached"]) == (1e-9, False)
    assert command(*ROOMS, "--json").document["tol_reached"] is True


def test_normalised(command):
    """--normalised multiplies by 1-γ, and the text says so."""
    ran = command(*ROOMS, "--normalised")
    assert "normalised: times 1-γ" in ran.out
    document = command(*ROOMS, "--normalised", "--json").document
    assert document["normalised"] is True
    assert document["distance"] == pytest.approx(0.05 * KNOWN, abs=1e-9)


def test_solver_by_name(command):
    """--solver takes the name of a solver."""
    assert command(*ROOMS, "--solver", "policy-iteration", "--json").document["status"] == "SOLVED"


def test_labels_as_cost(command, chain_file):
    """--cost labels: 1 where they differ, which here lasts one more step with probability 1/2."""
    file = chain_file(labels=["a", "b"])
    document = command(
        "distance", file, file, "--discount", 0.5, "--cost", "labels", "--start", 0, 1, "--json"
    ).document
    assert document["distance"] == pytest.approx(1 / (1 - 0.25))


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".json"])
def test_cost_from_a_file(command, tmp_path, suffix):
    """The same table in three formats: a constant cost c gives c/(1-γ)."""
    table = np.full((9, 9), 0.25)
    file = tmp_path / f"cost{suffix}"
    if suffix == ".npy":
        np.save(file, table)
    elif suffix == ".csv":
        np.savetxt(file, table, delimiter=",")
    else:
        file.write_text(json.dumps(table.tolist()))
    document = command("distance", "grid-3x3", "grid-3x3", "--discount", 0.75, "--cost", file, "--json").document
    assert document["distance"] == pytest.approx(1.0)


def test_start_by_name_and_index(command, chain_file):
    """--start takes both, and wins over the file."""
    file = chain_file(names=["idle", "busy"], start=0)
    run = ("distance", file, file, "--discount", 0.9, "--json")
    assert command(*run).document["distance"] == 0
    apart = command(*run, "--start", "idle", 1).document["distance"]
    assert apart == pytest.approx(1 / 0.55)
    assert command(*run, "--start", 1, "idle").document["distance"] == pytest.approx(apart)


def test_without_starts_there_is_a_summary(command, chain_file):
    """Smallest, median, largest, zeros and closest pairs, as text and as JSON."""
    file = chain_file(names=["idle", "busy"])
    text = command("distance", file, file, "--discount", 0.9)
    assert text.code == 0
    assert "2 of 4 pairs" in text.out
    assert "--start" in text.out
    assert re.search(r"largest +1.8181818\d* between idle and busy", text.out)
    document = command("distance", file, file, "--discount", 0.9, "--json").document
    assert document["distance"] is document["lower"] is document["upper"] is document["explain"] is None
    summary = document["summary"]
    assert (summary["n_pairs"], summary["zero_pairs"]) == (4, 2)
    assert summary["smallest"]["distance"] == summary["median"]["distance"] == 0
    assert summary["largest"]["distance"] == pytest.approx(1 / 0.55)
    assert [(pair["source"], pair["target"]) for pair in summary["closest"]] == [("idle", "busy"), ("busy", "idle")]


@pytest.mark.parametrize("flags", [(), ("--start", 0, 1)])
def test_names_are_inert(command, chain_file, flags):
    """Markup, terminal escapes and text direction in names have no effect."""
    file = chain_file(names=["[red]x[/red]", "\x1b[31m:bomb:\u202e\n\ud800"])
    ran = command("distance", file, file, "--discount", 0.9, *flags)
    assert ran.code == 0
    assert "[red]x[/red]" in ran.out
    assert r"\x1b[31m:bomb:\u202e\n\ud800" in ran.out
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


@pytest.mark.parametrize("flags", [(), ("--start", 0, 1)])
def test_long_names_fit_in_80_columns(command, chain_file, flags):
    """They are cut and folded, never wider than the terminal."""
    file = chain_file(names=["x" * 500, "界" * 500])
    ran = command("distance", file, file, "--discount", 0.9, *flags)
    assert max(map(len, ran.out.splitlines())) <= 80


def test_reachable_pairs(command, chain_file):
    """Only what the starts lead to is solved: the same distance, and the text says how many pairs."""
    file = chain_file(transitions=[[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]], reward=[0, 1, 2], start=1)
    whole = command("distance", file, file, "--start", 1, 2, "--discount", 0.9, "--json").document
    part = command(
        "distance", file, file, "--start", 1, 2, "--discount", 0.9, "--pairs", "reachable", "--json"
    ).document
    assert part["distance"] == pytest.approx(whole["distance"], rel=1e-9)
    text = command("distance", file, file, "--start", 1, 2, "--discount", 0.9, "--pairs", "reachable").out
    assert "3 × 3; 2 pairs are reachable" in text
    ran = command("distance", chain_file(), file, "--discount", 0.9, "--pairs", "reachable")
    assert "has no start" in ran.err
    assert "--start A0 B0 sets one" in ran.err


TOSS = {"reward": [0, 0, 0], "labels": ["toss", "heads", "tails"], "start": 0}


@pytest.mark.parametrize(("discount", "expected"), [(1, 0.1), (0.9, 0.09)])
def test_bisimilarity(command, chain_file, discount, expected):
    """The distance on labels from 0 to 1, with and without a discount."""
    fair = chain_file("fair.json", transitions=[[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], **TOSS)
    bent = chain_file("bent.json", transitions=[[0, 0.6, 0.4], [0, 1, 0], [0, 0, 1]], **TOSS)
    arguments = ("distance", fair, bent, "--discount", discount)
    document = command(*arguments, "--bisimilarity", "--json").document
    assert document["distance"] == pytest.approx(expected, abs=1e-9)
    assert (document["kind"], document["cost"], document["discount"]) == ("bisimilarity", "labels", discount)
    if discount == 1:
        assert command("distance", fair, bent, "--bisimilarity", "--json").document["distance"] == document["distance"]
    text = command(*arguments, "--bisimilarity").out
    assert "bisimilarity distance on labels" in text
    assert ("the expected number of visits" in text) == (discount == 1)


def test_changes_of_label(command, chain_file):
    """A coin that is tossed later lands the same way."""
    fair = chain_file("fair.json", transitions=[[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], **TOSS)
    slow = chain_file("slow.json", transitions=[[0.8, 0.1, 0.1], [0, 1, 0], [0, 0, 1]], **TOSS)
    arguments = ("distance", fair, slow, "--bisimilarity")
    assert command(*arguments, "--json").document["distance"] == pytest.approx(0.8)
    assert command(*arguments, "--label-changes", "--json").document["distance"] == 0
    assert "steps are changes of label" in " ".join(command(*arguments, "--label-changes").out.split())
    ran = command("distance", fair, slow, "--discount", 0.9, "--label-changes")
    assert ran.code == 2  # changes of label have no rewards
    assert "reward" in ran.err


def test_two_distances_on_labels(command, chain_file):
    """--cost labels says that it adds up and which other distance there is; --bisimilarity has a cost of its own."""
    file = chain_file(labels=["a", "b"], start=0)
    text = " ".join(command("distance", file, file, "--discount", 0.5, "--cost", "labels").out.split())
    assert "add up along the way; --bisimilarity bounds differences of probabilities" in text
    for extra, message in (
        (("--bisimilarity", "--cost", "labels"), "--bisimilarity and --cost"),
        (("--bisimilarity", "--normalised"), "--bisimilarity and --normalised"),
        (("--bisimilarity", "--pairs", "reachable"), "--bisimilarity and --pairs"),
    ):
        ran = command("distance", file, file, "--discount", 0.5, *extra)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err
    ran = command("distance", file, file, "--discount", 1)
    assert ran.code == 2
    assert "--bisimilarity, the distance on labels, allows 1" in ran.err


@pytest.mark.parametrize("by", [(), ("distance",), ("coupling",)])
def test_matching(command, chain_file, by):
    """States one-to-one, with those that are left over."""
    one = chain_file("one.json", names=["idle", "busy"], start=0)
    rows = [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]
    other = chain_file("other.json", transitions=rows, reward=[1, 0, 9], names=["on", "off", "lost"], start=1)
    arguments = ("distance", one, other, "--discount", 0.5, "--match", *by)
    match = command(*arguments, "--json").document["match"]
    assert [(pair["source"], pair["target"]) for pair in match["pairs"]] == [("idle", "off"), ("busy", "on")]
    assert (match["total"], match["unmatched"]) == (0, [[], ["lost"]])
    assert all((pair["time"] is None) == (by != ("coupling",)) for pair in match["pairs"])
    text = command(*arguments).out
    assert "States matched one-to-one" in text
    assert "unmatched in the target: lost" in text
    assert "idle" in command(*arguments, "--quiet").out


def test_matching_that_cannot_be(command, chain_file, monkeypatch):
    """Missing starts are an error before the work; a failure afterwards leaves the distance."""
    file = chain_file()
    monkeypatch.setattr("bisimetric.cli.distance.solve", lambda *_, **__: pytest.fail("solved"))
    ran = command("distance", file, file, "--discount", 0.9, "--match", "coupling")
    assert (ran.code, ran.out) == (2, "")
    assert "--match coupling needs starts" in ran.err
    monkeypatch.undo()

    def fail(*_):
        raise SolverFailed("too close to 1")

    monkeypatch.setattr("bisimetric.solving.solution.Answer.assignment", fail)
    ran = command(*ROOMS, "--match")
    assert ran.code == 0
    assert "0.43558176" in ran.out
    assert ran.err == "bisimetric: no matching: too close to 1\n"


def test_quiet(command, chain_file, tmp_path):
    """The number alone; notes and explanations are left out, the file is written."""
    file = tmp_path / "solution.json"
    ran = command(*ROOMS, "--quiet", "--out", file)
    assert (ran.code, ran.err) == (0, "")
    assert float(ran.out) == pytest.approx(KNOWN, abs=1e-9)
    assert file.exists()
    ran = command("distance", chain_file(), chain_file(), "--discount", 0.9, "-q")
    assert "largest" in ran.out
    assert "Closest" not in ran.out


@pytest.mark.parametrize("option", ["--save", "--output", "-o"])
def test_older_spellings(command, tmp_path, option):
    """They mean --out."""
    assert command(*ROOMS, option, tmp_path / "s.npz").code == 0
    assert (tmp_path / "s.npz").exists()


def test_save_and_load(command, tmp_path):
    """--out writes what `load` reads, and says so on stderr only."""
    import bisimetric as bm

    file = tmp_path / "solution.npz"
    ran = command(*ROOMS, "--json", "--out", file)
    assert ran.code == 0
    assert str(file) in ran.err
    assert bm.load(file).distance == ran.document["distance"]
