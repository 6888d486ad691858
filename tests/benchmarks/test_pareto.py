"""The race of ladders: every peer is right within its claim, nothing is run in vain, nothing measured is lost."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.pareto import ladder, methods, pictures, race

import bisimetric as bm
from benchmarks import approximate, instances, measure, outcomes, restarts

BOUNDS = ladder.Limits(60.0, 8 * 10**9)


def question(name: str, discount: float = 0.8):
    """A problem and its distances."""
    made = instances.problem(name, discount)
    return made, bm.solve(made).value


@pytest.mark.parametrize("name", ["dense-5", "rooms-2"])
def test_the_independent_policy(name):
    """Couplings with the right marginals are evaluated as they are, on padded and on full supports."""
    made, _ = question(name)
    p, q = made.source.transitions.toarray(), made.target.transitions.toarray()
    expected = np.linalg.solve(np.eye(made.cost.size) - 0.8 * np.kron(p, q), made.cost.ravel())
    for supports in (outcomes.Supports.of, outcomes.Supports.full):
        source, target = supports(made.source), supports(made.target)
        plans = source.weight[:, None, :, None] * target.weight[None, :, None, :]
        found = outcomes.policy_value(made, plans, source, target)
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-9)


def test_both_errors():
    """The error of the distances and that of the policy are told apart, relative to the largest distance."""
    truth = np.array([[1.0, 2.0]])
    found = outcomes.error(outcomes.Outcome(truth + np.array([[0.0, 0.5]]), lambda: 1.5 * truth), truth)
    assert found == {"error": 0.25, "policy_error": 0.5}


@pytest.mark.parametrize("name", ["dense-5", "rooms-2"])
@pytest.mark.parametrize("method", ["svi", "spi"])
def test_numpy_rounds(method, name):
    """More rounds of the paper's methods lead to a better policy, never below the distances."""
    made, truth = question(name)
    run = approximate.numpy_rounds(method, (5, 500))
    looks = list(run(made, {"step": 1.0}))
    assert [look.setting for look in looks] == [{"step": 1.0, "rounds": rounds} for rounds in (5, 500)]
    few, many = (look.outcome.of_policy() for look in looks)
    assert (many >= truth - 1e-9).all()
    assert np.abs(many - truth).max() < min(0.05 * truth.max(), 0.5 * np.abs(few - truth).max())


def test_numpy_overflow():
    """A step for which plain arrays are not made is an error, not an answer."""
    with pytest.raises(ArithmeticError):
        list(approximate.numpy_rounds("svi")(question("dense-5")[0], {"step": 1e4}))


def test_a_look_is_what_fewer_rounds_give():
    """The couplings handed out on the way are not touched by later rounds."""
    made, _ = question("dense-4")
    setting = {"step": 0.3}
    on_the_way, _ = approximate.numpy_rounds("svi", (5, 50))(made, setting)
    by_itself = next(approximate.numpy_rounds("svi", (5,))(made, setting))
    np.testing.assert_array_equal(on_the_way.outcome.of_policy(), by_itself.outcome.of_policy())


def test_the_paper_s_methods_can_be_good_enough(tmp_path):
    """A constant step stalls at a bias; the ladder has one that is small enough, and leaves a stalled one early."""
    cases = [(0, 0.75, False, range(len(methods.STEPS)))]
    rows = [row for row in ladder.runs("svi-numpy", "dense-5", cases, BOUNDS, str(tmp_path)) if "policy_error" in row]
    assert ladder.reached(rows[-1])
    assert not any(ladder.reached(row) for row in rows[:-1])
    by_step = {step: [row["setting"]["rounds"] for row in rows if row["setting"]["step"] == step] for step in (10, 3)}
    assert by_step[10] == [15, 50]
    assert max(by_step[3]) < max(approximate.LOOKS)
    first = [row["cpu"] for row in rows if row["setting"]["step"] == 10]
    assert first == sorted(first)


@pytest.mark.parametrize("name", ["dense-5", "rooms-2"])
def test_ot_markov_distances(name):
    """Its distances are too large by the entropy, less so for a smaller one; its policy is better than they are."""
    pytest.importorskip("ot_markov_distances")
    made, truth = question(name)
    settings = [{"reg": reg, "rtol": 1e-3, "sinkhorn": 200} for reg in (0.03, 0.003)]
    rough, fine = (approximate.ot_markov_distances(made, setting) for setting in settings)
    assert (fine.value >= truth - 1e-3 * truth.max()).all()
    errors = [outcomes.error(outcome, truth) for outcome in (rough, fine)]
    assert errors[1]["error"] < min(0.1, 0.3 * errors[0]["error"])
    assert errors[1]["policy_error"] < 0.5 * errors[1]["error"]
    assert (fine.of_policy() >= truth - 1e-9).all()


def test_ot_markov_distances_warns(monkeypatch):
    """Too few iterations are told about, and the answer is still there."""
    pytest.importorskip("ot_markov_distances")
    monkeypatch.setattr(approximate, "OUTER", 1)
    outcome = approximate.ot_markov_distances(question("dense-5")[0], {"reg": 0.1, "rtol": 1e-5, "sinkhorn": 10})
    assert "converge" in outcome.warnings[0]
    assert outcome.value is not None


@pytest.mark.parametrize("name", ["dense-4", "grid-3"])
def test_pyotc(name):
    """Chains that meet in one state: the average gives the distance of the starts, the couplings all of them."""
    pytest.importorskip("pyotc")
    made, truth = question(name, 0.75)
    _, distance, _ = restarts.coupled(made, 1.0)
    assert distance == pytest.approx(truth[0, 0], rel=1e-3)
    assert outcomes.error(restarts.pyotc(made, {"scale": 1.0}), truth)["policy_error"] < 1e-3


def test_restarts_must_be_together():
    """Chains that restart by themselves have a smaller average, as the docstring says."""
    source, target = (chain.transitions.toarray() for chain in _chains("dense-4"))
    assert "0.51629" in restarts.__doc__
    assert "0.51689" in restarts.__doc__
    made, truth = question("dense-4", 0.75)
    assert truth[0, 0] == pytest.approx(0.51689, abs=5e-6)
    start = np.zeros(4)
    start[restarts.START] = 1.0
    averages = _smallest_average(0.75 * source + 0.25 * start, 0.75 * target + 0.25 * start, made.cost)
    assert averages / 0.25 == pytest.approx(0.51629, abs=5e-6)


def _chains(name: str) -> tuple[bm.MarkovChain, bm.MarkovChain]:
    made = instances.problem(name, 0.75)
    return made.source, made.target


def _smallest_average(source, target, cost) -> float:
    """The average cost of the best coupling of two chains, as the limit of (1-γ)V."""
    discount = 1 - 1e-7
    value = bm.distance(bm.MarkovChain(source), bm.MarkovChain(target), discount=discount, cost=cost, tol=1e-6).value
    return float((1 - discount) * value[0, 0])


@pytest.mark.slow
def test_ladders_are_run_to_the_first_that_is_good_enough(tmp_path, monkeypatch):
    """Or to the end where a picture needs all; ours leaves the distances for the others."""
    monkeypatch.setattr(ladder, "LONG", 0.0)
    study = race.Study((), (0.3, race.SHOWN), ("dense-4",))
    where = {"instance": "dense-4", "truths": str(tmp_path), "bounds": BOUNDS}
    cases = race.cases_of(study, "dense-4", 1, "ours")
    ours = measure.rows_of_fresh_process("pareto", {"method": "ours", "cases": cases, **where})
    assert [row["setting"]["tol"] for row in ours] == [1e-6, 0.1, 0.01, 1e-4, 1e-6]
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setitem(methods.METHODS, "svi-numpy", methods.METHODS["svi-numpy"]._replace(ladder=methods.STEPS[:4]))
    rows = list(ladder.runs("svi-numpy", cases=race.cases_of(study, "dense-4", 1, "svi-numpy"), **where))
    assert [row["status"] for row in rows[:2]] == ["begun", "solved"]
    done = [row for row in rows if row["status"] != "begun"]
    first = [row for row in done if row["discount"] == 0.3]
    assert [ladder.reached(row) for row in first] == [False] * (len(first) - 1) + [True]
    assert {row["rung"] for row in done if row["discount"] == race.SHOWN} == {0, 1, 2, 3}
    assert all(row["policy_error"] > 0.0 for row in done if row["status"] == "solved")


@pytest.mark.slow
def test_a_ladder_that_is_ended(tmp_path):
    """The row of the run under way says so, those before are kept."""
    cases = [(0, 0.99, False, [5]), (0, 0.999, False, [5])]
    task = {"method": "svi-numpy", "instance": "dense-30", "cases": cases, "truths": str(tmp_path)}
    rows = measure.rows_of_fresh_process("pareto", task | {"bounds": (1.0, BOUNDS.memory)})
    assert rows[-1]["status"] == "time-out"
    assert rows[-1]["setting"] == methods.STEPS[5]
    assert all(row["status"] == "solved" for row in rows[:-1])
    (end,) = race.ends("svi-numpy", "dense-30", rows)
    assert end == ("dense-30", 0, 0.99, 5, "time-out")


@pytest.mark.parametrize("begun", [True, False])
def test_a_process_that_fails(monkeypatch, begun):
    """Its last words become a row, with or without a run that had begun."""
    said = '{"rung": 0, "status": "solved"}\n{"rung": 1, "status": "begun"}\n' if begun else ""
    done = subprocess.CompletedProcess([], 1, said, "Traceback\nLinAlgError: Singular matrix\n")
    monkeypatch.setattr(measure, "_run", lambda *_, **__: done)
    rows = measure.rows_of_fresh_process("pareto", {})
    failed = {"status": "failed", "detail": "LinAlgError: Singular matrix"}
    assert rows == ([{"rung": 0, "status": "solved"}, {"rung": 1} | failed] if begun else [failed])


class Pretended:
    """Processes that answer at once: what happens, by method, instance, discount, seed and rung."""

    def __init__(self, monkeypatch, happens):
        self.asked = []
        self._happens = happens
        monkeypatch.setattr(race, "rows_of_fresh_process", self._rows)

    def _rows(self, task, arguments):
        method, instance = arguments["method"], arguments["instance"]
        rows = []
        for case in arguments["cases"]:
            for rung in case.rungs:
                self.asked.append((method, instance, case.discount, case.seed, rung))
                status = self._happens(*self.asked[-1])
                where = {"seed": case.seed, "discount": case.discount, "rung": rung, "states": 10}
                setting = methods.METHODS[method].ladder[rung]
                found = {"status": "solved", "cpu": 1.0, "error": 0.5 if status == "rough" else 0.0}
                if status not in ("good", "rough"):
                    return [*rows, where | {"setting": setting, "status": status}]
                rows.append(where | {"setting": setting} | found)
                if status == "good" and not case.every:
                    break
        return rows

    def race(self, study, seeds=1):
        return [row for rows in race.measure(study, seeds, 60.0, lambda line: None) for row in rows]


@pytest.mark.parametrize("status", ["time-out", "out of memory", "crashed"])
def test_what_must_be_slower_is_not_run(monkeypatch, status):
    """After an ended ladder: larger problems, larger discounts, and methods that do the same with more work."""
    late = ("vi-core-macqueen", "dense-10", 0.9)
    pretended = Pretended(monkeypatch, lambda *case: status if case[:3] == late else "good")
    rows = pretended.race(race.Study((("dense-10", "dense-20"), ("paper-40",)), (0.75, 0.9, 0.95), ()), seeds=2)

    def discounts(method, instance):
        return sorted({case[2] for case in pretended.asked if case[:2] == (method, instance)})

    assert discounts("vi-core-macqueen", "dense-20") == [0.75]
    assert discounts("vi-emd2-macqueen", "dense-10") == [0.75]
    assert discounts("vi-core-macqueen", "paper-40") == [0.75, 0.9, 0.95]
    assert discounts("pi-core-lu", "dense-20") == [0.75, 0.9, 0.95]
    marked = {(row["method"], row["instance"], row["discount"]) for row in rows if "not_run_because_of" in row}
    assert ("vi-core-macqueen", "dense-10", 0.95) in marked
    assert ("vi-core-macqueen", "dense-20", 0.9) in marked
    assert not any(instance == "paper-40" for _, instance, _ in marked)
    assert {row["status"] for row in rows if "not_run_because_of" in row} == {status}


def test_cheap_settings_of_an_approximate_method_are_still_run(monkeypatch):
    """Where a fine one was ended; what is left out makes that case unfinished, not hopeless."""
    regs = len(methods.REGS)

    def happens(method, instance, discount, seed, rung):
        if method != "ot-markov-distances":
            return "good"
        return "time-out" if methods.REGULARISATIONS[rung]["reg"] < 1e-3 else "rough"

    pretended = Pretended(monkeypatch, happens)
    rows = pretended.race(race.Study((("dense-10", "dense-20"),), (0.75, 0.9), ()))
    asked = [case[1:] for case in pretended.asked if case[0] == "ot-markov-distances"]
    assert [case[-1] for case in asked[: 2 * regs - 3]] == [*range(6), *range(regs, 2 * regs - 2)]
    rungs = [case[-1] for case in asked if case[:2] == ("dense-20", 0.9)]
    assert rungs == [*range(5), *range(regs, regs + 5)]
    last = [row for row in rows if (row["method"], row["instance"]) == ("ot-markov-distances", "dense-20")][-1]
    assert (last["status"], last["not_run_because_of"]) == ("time-out", "dense-10")


def test_other_seeds(monkeypatch):
    """They are run after one of them was ended, unless it was the first; each case is accounted for."""

    def happens(method, instance, discount, seed, rung):
        late = {("pi-core-lu", 1), ("vi-core-macqueen", 0)}
        return "time-out" if (method, seed) in late else "good"

    pretended = Pretended(monkeypatch, happens)
    rows = pretended.race(race.Study((("dense-10",),), (0.75, 0.9), ()), seeds=3)
    assert [case[2:4] for case in pretended.asked if case[0] == "pi-core-lu"] == [
        (0.75, 0),
        (0.75, 1),
        (0.75, 2),
        (0.9, 0),
        (0.9, 2),
    ]
    assert [case[2:4] for case in pretended.asked if case[0] == "vi-core-macqueen"] == [(0.75, 0)]
    assert {case[3] for case in pretended.asked if case[0] in methods.APPROXIMATE} == {0}
    for method in ("pi-core-lu", "vi-core-macqueen"):
        assert len({(row["seed"], row["discount"]) for row in rows if row["method"] == method}) == 6


def test_a_late_fine_setting_ends_nothing(monkeypatch):
    """Where a rougher setting was good enough, the other cases are still run, in another process."""
    pretended = Pretended(monkeypatch, lambda *case: "time-out" if case[-1] == 2 else "good")
    monkeypatch.setattr(race, "SHOWN", 0.75)
    rows = pretended.race(race.Study((("dense-10",),), (0.75, 0.9), ("dense-10",)))
    assert [case[2:] for case in pretended.asked if case[0] == "vi-emd2"] == [
        (0.75, 0, 0), (0.75, 0, 1), (0.75, 0, 2), (0.9, 0, 0),
    ]  # fmt: skip
    assert not any("not_run_because_of" in row for row in rows if row["method"] == "vi-emd2")


def test_a_method_that_is_not_there(monkeypatch):
    """Costs its own rows, not the race."""
    why = {"status": "failed", "detail": "ModuleNotFoundError: No module named 'ot'"}
    monkeypatch.setattr(race, "rows_of_fresh_process", lambda task, arguments: [why.copy()])
    (rows,) = race.measure(race.Study((("dense-10",),), (0.75, 0.9), ()), 1, 60.0, lambda line: None)
    mine = [row for row in rows if row["method"] == "pi-emd-lu"]
    assert [(row["discount"], row["status"], row["detail"]) for row in mine] == [
        (discount, "failed", why["detail"]) for discount in (0.75, 0.9)
    ]


def test_an_interrupted_race_keeps_what_it_has(tmp_path, monkeypatch):
    """The file is written after each instance."""

    def stops(*_):
        yield [{"status": "solved"}]
        raise KeyboardInterrupt

    monkeypatch.setattr(race, "measure", stops)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "pareto", "--quick", "--results", str(tmp_path)])
    with pytest.raises(KeyboardInterrupt):
        main()
    assert [path.name for path in tmp_path.iterdir()] == ["pareto.json"]
    assert json.loads((tmp_path / "pareto.json").read_text())["rows"] == [{"status": "solved"}]


def test_ladders_go_from_rough_to_fine():
    """Every method has settings of its own kind, the last of ours is the certified one."""
    assert methods.METHODS["ours"].ladder[-1] == {"tol": methods.CERTIFIED}
    assert [setting["tol"] for setting in methods.GAPS] == sorted((s["tol"] for s in methods.GAPS), reverse=True)
    for ladder_of in (methods.GAPS, methods.STEPS, methods.REGULARISATIONS):
        assert not any(methods.slower(one, fine) for k, fine in enumerate(ladder_of) for one in ladder_of[:k])
        assert all(methods.slower(one, one) for one in ladder_of)
    assert set(pictures.LOOKS) == set(methods.METHODS)
