"""The harness measures what it says: right problems, right answers, time-outs and wrong answers shown as such."""

from __future__ import annotations

import time

import numpy as np
import pytest

import bisimetric as bm
from benchmarks import (
    bisimulation,
    comparison,
    discounts,
    instances,
    many,
    measure,
    peers,
    readers,
    scaling,
    small,
    tables,
    tasks,
)

SETTINGS = {"discount": 0.95, "tol": 1e-6, "memory": 8 * 10**9}


@pytest.mark.parametrize(
    "name", [*comparison.TITLES, *scaling.QUICK_KERNEL_INSTANCES, "sparse-20", "self-4", "corners-4", "paths-7"]
)
def test_instances(name):
    """Every instance can be built by its name."""
    made = instances.problem(name, 0.9)
    assert made.discount == 0.9
    assert made.cost.any()
    assert made.shape[0] == made.shape[1]


@pytest.mark.slow
def test_the_cost_against_the_discount():
    """One row for each discount, and a table of ratios."""
    rows = discounts.measure(["slow-cycles-5"], lambda _: None)
    assert [row["discount"] for row in rows] == list(discounts.DISCOUNTS)
    (table,) = discounts.tables(rows)
    assert table.body[0][0] == "slow-cycles-5"
    assert len(table.body[0]) == len(table.head)


def test_a_coarse_clock(monkeypatch):
    """Work shorter than a tick of the clock has a cost above zero: the clock of a limited process ticks in 4 ms."""
    fine = time.process_time
    monkeypatch.setattr(measure.time, "process_time", lambda: fine() // 0.004 * 0.004)
    assert measure.quickest(lambda: None, enough=0.1)[1] > 0.0


def test_seeds_give_different_problems():
    """A seed is not ignored where it matters."""
    assert (instances.problem("dense-4", 0.9, 0).cost != instances.problem("dense-4", 0.9, 1).cost).all()


@pytest.mark.parametrize("name", ["dense", "rooms-x", "palace-3", "classic-11"])
def test_unknown_instances(name):
    """A wrong name ends the program with a message."""
    with pytest.raises(SystemExit, match="instance"):
        instances.problem(name, 0.9)


@pytest.mark.parametrize("instance", ["dense-4", "grid-3"])
@pytest.mark.parametrize("method", peers.METHODS)
def test_peers_are_right(method, instance, monkeypatch):
    """Every peer ends within the gap that it was asked for."""
    for variable, value in measure.POT_WITH_NUMPY_ONLY.items():
        monkeypatch.setenv(variable, value)
    if method.startswith(("pi", "vi")):
        pytest.importorskip("ot")
    made = instances.problem(instance, 0.8)
    truth = bm.solve(made)
    assert np.abs(peers.solve(method, made, 1e-6) - truth.value).max() <= 1e-6 * truth.value.max()


@pytest.mark.slow
def test_a_measurement():
    """A method that ends reports seconds, error and memory."""
    task = {"name": "ours", "instance": "grid-3", "seed": 0, "timeout": 60, **SETTINGS}
    row = measure.in_fresh_process("method", task)
    assert row["status"] == "solved"
    assert 0 < row["cpu"] < 60
    assert row["error"] < 1e-6
    assert row["bytes_peak"] >= row["bytes_before"] > 0


@pytest.mark.slow
def test_a_time_out():
    """A method that takes longer than it may is ended and says so."""
    task = {"name": "highs-simplex", "instance": "dense-20", "seed": 0, "timeout": 0, **SETTINGS}
    assert measure.in_fresh_process("method", task) == {"status": "time-out"}


def row(method: str, **more: object) -> dict[str, object]:
    """A result as the harness stores it."""
    return {"instance": "grid-5", "seed": 0, "method": method, "status": "solved", "cpu": 0.5, "error": 0.0, **more}


def test_tables_show_what_went_wrong():
    """Time-outs are lower bounds; wrong answers, failures and inferred rows are marked."""
    rows = [
        row("ours", cpu=0.02),
        row("ours", cpu=0.04),
        row("pi-core-lu", status="out of memory"),
        row("vi-core-macqueen", status="time-out"),
        row("vi-emd2-macqueen", status="time-out", not_run_because_of="vi-core-macqueen"),
        row("vi-emd2", status="wrong", error=0.1),
        row("highs-ipm", cpu=3.0),
        row("highs-simplex", cpu=6.0),
    ]
    for late in rows[3:5]:
        del late["cpu"]
    seconds, ratios, _, errors = comparison.tables(rows, 60.0)
    assert seconds.body == [["grid 5×5", "0.02", "out of memory", "> 60", "> 60 †", "wrong 0.5", "3"]]
    assert ratios.body == [["grid 5×5", "out of memory", "> 3000", "> 3000 †", "wrong", "150"]]
    assert errors.body[0][5] == "1e-01"


def test_what_must_be_slower_is_not_run():
    """After a time-out: larger problems of the family, and methods that do the same work and more."""
    ended = [row("vi-core-macqueen", status="time-out")]
    family = ("grid-5", "grid-7")
    assert comparison._ended_on_easier(ended, family, "grid-7", "vi-core-macqueen") == "grid-5"
    assert comparison._ended_on_easier(ended, family, "grid-5", "vi-emd2-macqueen") == "vi-core-macqueen"
    assert not comparison._ended_on_easier(ended, family, "grid-5", "pi-core-lu")


def test_tables_as_text_and_markdown():
    """Columns line up; the Markdown has a ruler."""
    table = tables.Table("A title", ["", "b"], [["x", "1"], ["yy", "22"]], ["a note"])
    assert table.text() == "A title\n\n     b\nx    1\nyy  22\n  a note"
    assert table.markdown().splitlines()[2:5] == ["|  | b |", "| --- | ---: |", "| x | 1 |"]
    assert [tables.digits(value) for value in (0.01234, 5.67, 123.4)] == ["0.012", "5.7", "123"]


def test_islands():
    """A hundredth of the pairs can be reached: the starts are in two of ten parts that nothing connects."""
    made = instances.problem("islands-2", 0.9)
    n = made.shape[0]
    part = bm.distance(made.source, made.target, discount=0.9, pairs="reachable").problem
    assert 100 * (~part.stop).sum() == n * n
    assert made.cost[~part.stop].any()


@pytest.mark.parametrize(("name", "edges"), [("sparse-40", 200), ("even-40", 200), ("path-40", 40)])
def test_large_chains(name, edges):
    """Every chain whose classes are looked for can be built by its name."""
    made = instances.chain(name)
    assert (made.n_states, made.transitions.nnz) == (40, edges)
    assert len(set(bm.bisimilar_classes(made))) == 40


def test_no_such_chain():
    """A wrong name ends the program with a message."""
    with pytest.raises(SystemExit, match="instance"):
        instances.chain("torus-3")


@pytest.mark.parametrize("name", bisimulation.COMPARISONS)
@pytest.mark.slow
def test_both_sides_of_a_comparison(name):
    """They answer the same question, one of them with less."""
    comparison = bisimulation.COMPARISONS[name]
    family = comparison.instance.partition("-")[0]
    question = {"instance": f"{family}-3", "discount": 0.9, "tol": 1e-6}
    having, lacking = (
        tasks.TASKS[comparison.task](**question, **options) for options in (comparison.having, comparison.lacking)
    )
    assert having["pairs"] == lacking["pairs"]
    assert min(having["cpu"], lacking["cpu"]) > 0.0
    assert max(having["relative_gap"], lacking["relative_gap"]) <= 1e-6
    if comparison.task == "between-starts":
        assert 100 * having["pairs_solved"] == lacking["pairs_solved"]
        assert having["distance"] == pytest.approx(lacking["distance"], rel=1e-5)


def test_tables_of_savings():
    """Ratios are taken within a turn, growth from half the size."""
    rows = []
    for study in bisimulation.COMPARISONS:
        for turn, cpu in enumerate((1.0, 2.0, 10.0)):
            memory = {"pairs": 10, "bytes_before": 100}
            rows.append({"study": study, "turn": turn, "having": True, "cpu": cpu, "bytes_peak": 200} | memory)
            rows.append({"study": study, "turn": turn, "having": False, "cpu": 3 * cpu, "bytes_peak": 300} | memory)
    for size in (5, 10):
        sizes = {"states": size, "edges": 5 * size, "classes": size}
        rows.append({"study": "refinement", "turn": 0, "instance": f"even-{size}", "cpu": 0.1 * size**2, **sizes})
    savings, growth = bisimulation.tables(rows)
    assert savings.body[0][1:] == ["10", "2", "6", "3×", "10", "20", "2×"]
    assert savings.body[1][1:6] == ["10", "2", "6", "3×", ""]
    assert [line[-1] for line in growth.body] == ["", "4.00"]


@pytest.mark.parametrize("kind", readers.KINDS)
def test_files_for_readers(kind, tmp_path):
    """Every kind of file can be read, and has as many transitions as it should."""
    path = tmp_path / "model.tra"
    readers.write(kind, 1000, path)
    model = bm.from_explicit(path)
    matrices = [model.transitions] if isinstance(model, bm.MarkovChain) else model.transitions
    assert sum(matrix.nnz for matrix in matrices) == 1000


@pytest.mark.slow
def test_readers_against_pandas():
    """One row per kind of file, and a table of ratios."""
    rows = readers.measure(20_000, lambda _: None)
    assert [row["kind"] for row in rows] == list(readers.KINDS)
    assert all(row["cpu"] > 0 and row["bytes_per_transition"] > 0 for row in rows)
    (table,) = readers.tables(rows)
    assert len(table.body[0]) == len(table.head)


def test_the_table_of_many_models():
    """Ratios of what was measured, with and without the start of the workers."""
    small = {"study": "small", "pairs": 10, "states": 4, "loop_cpu": 3.0, "table_cpu": 1.0}
    workers = {"study": "workers", "chains": 5, "states": 9, "pairs": 10}
    workers |= {"one_wall": 10.0, "two_wall": 6.0, "start_wall": 1.0}
    first, second = many.tables([small, workers])
    assert first.body[0][-1] == "3.0"
    assert second.body[1][-2:] == ["1.67", "2.00"]
    assert many.rooms(3)[2].n_states == 104
    assert many.small_chains(2)[1].n_states == many.STATES


@pytest.mark.slow
def test_threads_are_measured_beside_what_the_machine_allows():
    """A row for every number of threads; two processes at once say how fast two threads could be."""
    rows = small.threads(True, lambda _: None)
    assert [row["threads"] for row in rows] == [1, 2] * 3
    assert [row["limit"] != "" for row in rows] == [False, False, False, True, False, True]
    assert all(row["wall_s"] > 0 and row["faster"] > 0 for row in rows)
    assert 0.5 < rows[-1]["limit"] < 4.0
