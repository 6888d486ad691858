"""The page shows the solution's own numbers and says what they mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.couplings.coupling import Coupling
from bisimetric.errors import NotEnoughMemory
from bisimetric.views.report import solution as module
from bisimetric.views.report.frame import page_data
from bisimetric.views.report.solution import solution_page
from tests.strategies import tame_problems
from tests.views.report.models import PROTOCOL, decision_process, protocol, protocols


def payload(solution, **options):
    """What the page knows."""
    return page_data(solution_page(solution, **options))


@given(problem=tame_problems(start=True))
def test_numbers_are_those_of_the_solution(problem):
    """Values and bounds to the last bit, costs, the headline, and shares that add up to one."""
    solution = bm.solve(problem)
    found = payload(solution)
    pairs = found["pairs"]
    for name, array in (("value", solution.value), ("lower", solution.lower), ("upper", solution.upper)):
        assert pairs[name] == array.ravel().tolist()
    assert pairs["cost"] == problem.cost.ravel().tolist()
    headline = found["headline"]
    assert headline["lower"] <= headline["value"] <= headline["upper"]
    if problem.source != problem.target:
        assert (headline["lower"], headline["upper"]) == solution.interval
        assert sum(weight for _, weight in found["law"]) == pytest.approx(1)
    if headline["value"] > 0 and found["explanation"] is not None:
        assert sum(pairs["share"]) == pytest.approx(1, abs=1e-3)


def test_the_explanation_is_that_of_the_solution():
    """The same pairs in the same order, by number."""
    solution = protocols()
    found = payload(solution)["explanation"]
    parts = solution.explain().parts
    names = [(PROTOCOL[number // 5], PROTOCOL[number % 5]) for number, *_ in found["parts"]]
    assert names == [(part.source, part.target) for part in parts]
    assert [row[1:] for row in found["parts"]] == [[p.occupancy, p.cost, p.amount, p.share] for p in parts]
    assert found["others"] == 0
    assert found["rest"] == pytest.approx(0, abs=1e-12)


def test_versions_and_facts():
    """Everything that is needed to judge the number and to get it again."""
    solution = protocols()
    found = payload(solution, command="bisimetric distance a b")
    assert ["States", "5 × 5"] in found["facts"]
    assert found["reproduce"]["command"] == "bisimetric distance a b"
    assert ["bisimetric", bm.__version__] in found["reproduce"]["versions"]
    assert {"Python", "numpy", "scipy", "numba"} <= {name for name, _ in found["reproduce"]["versions"]}


def test_named_costs_are_named():
    """Among the facts, and in the Python."""
    chains = [protocol(loss, labels=["-", "-", "-", "ok", "-"]) for loss in (0.05, 0.2)]
    found = payload(bm.distance(*chains, discount=0.9, cost=bm.cost.label_mismatch))
    text = dict(found["facts"])["Cost"]
    assert "label" in text
    assert f"# cost: {text}" in found["reproduce"]["python"]
    assert "Cost" not in dict(payload(protocols())["facts"])


COSTS = np.arange(25.0).reshape(5, 5)
QUESTIONS = {
    "rewards": lambda a, b: bm.distance(a, b, discount=0.9),
    "costs": lambda a, b, cost=COSTS: bm.distance(a, b, discount=0.9, cost=cost, tol=1e-6),
    "normalised": lambda a, b: bm.distance(a, b, discount=0.9, normalised=True, solver="value-iteration"),
    "reachable": lambda a, b: bm.distance(a, b, discount=0.9, pairs="reachable"),
    "stop": lambda a, b: bm.solve(bm.Problem(a, b, discount=0.9, stop=np.eye(5, dtype=bool))),
    "labels": lambda a, b: bm.bisimilarity_distance(a, b),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_the_python_asks_the_same_question(kind):
    """Run on the same chains it gives the same distance."""
    source, target = (protocol(loss, labels=["-", "-", "-", "ok", "-"]) for loss in (0.05, 0.2))
    solution = QUESTIONS[kind](source, target)
    call = module._call(solution)
    inputs = {
        "bm": bm,
        "source": source,
        "target": target,
        "cost": solution.problem.cost,
        "stop": solution.problem.stop,
    }
    again = eval(call, inputs)
    assert again.distance == solution.distance
    assert again.problem == solution.problem
    assert (again.solver, again.tol) == (solution.solver, solution.tol)


def test_the_python_for_decision_processes():
    """With its actions."""
    mdp = decision_process()
    solution = bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.8, actions="matched")
    again = eval(module._call(solution), {"bm": bm, "source": mdp, "target": mdp.with_start(1)})
    assert np.array_equal(again.value, solution.value)


MEANINGS = {
    "rewards": "rewards add up to",
    "costs": "total cost is",
    "normalised": "mean gap between their rewards",
    "reachable": "rewards add up to",
    "labels": "different labels",
}


@pytest.mark.parametrize("kind", MEANINGS)
def test_the_sentence_fits_the_question(kind):
    """Total or mean, rewards, costs or labels, with the number in it."""
    chains = (protocol(loss, labels=["-", "-", "-", "ok", "-"]) for loss in (0.05, 0.2))
    found = payload(QUESTIONS[kind](*chains))
    assert MEANINGS[kind] in found["meaning"]
    assert f"{found['headline']['value']:.6g}" in found["meaning"]
    assert found["meaning"].count(".  ") == 0


def test_a_self_metric_is_about_its_largest_distance():
    """The distance between equal starts, zero, says nothing."""
    solution = bm.bisimulation_metric(protocol(0.1), discount=0.9)
    found = payload(solution)
    assert found["headline"]["value"] == solution.value.max() > 0
    assert found["title"] == "Distances between the states of a chain"
    x, y = np.unravel_index(solution.value.argmax(), solution.value.shape)
    assert f"{PROTOCOL[x]} and {PROTOCOL[y]}" in found["meaning"]
    assert found["explanation"]["parts"]


def test_chains_without_starts():
    """The largest distance again."""
    chains = (protocol(loss, start=None) for loss in (0.05, 0.2))
    solution = bm.distance(*chains, discount=0.9)
    assert payload(solution)["headline"]["upper"] == solution.upper.flat[solution.value.argmax()]


def test_bisimilar_chains_are_said_to_be():
    """Zero is proved, and nothing is explained."""
    solution = bm.distance(protocol(0.1), protocol(0.1, names=[f"{name} again" for name in PROTOCOL]), discount=0.9)
    found = payload(solution)
    assert found["headline"]["upper"] == 0
    assert "bisimilar" in found["meaning"]
    assert found["explanation"]["parts"] == []


def test_names_of_the_models():
    """They are the title."""
    assert payload(protocols(), names=("old", "new"))["title"] == "Distance between old and new"
    assert payload(protocols())["title"] == "Distance between two chains"


def test_pairs_that_were_not_solved_are_null():
    """NaN is not JSON."""
    names = [str(k) for k in range(4)]
    chain = bm.MarkovChain(np.eye(4)[[1, 0, 3, 2]], reward=np.arange(4), start=0, names=names)
    solution = bm.distance(chain, chain.with_start(1), discount=0.5, pairs="reachable")
    found = payload(solution)["pairs"]
    unsolved = [math.isnan(value) for value in solution.value.ravel()]
    assert any(unsolved)
    assert [value is None for value in found["value"]] == unsolved
    assert [cells == [] for cells in found["cells"]] == unsolved


def test_decision_processes_have_decisive_actions():
    """And costs that are those of the explanation."""
    mdp = decision_process()
    solution = bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.8)
    found = payload(solution)
    assert found["actions"] == [["stay", "go"]] * 2
    assert found["pairs"]["actions"] == solution.decisive.reshape(-1, 2).tolist()
    for number, _, cost, _, _ in found["explanation"]["parts"]:
        assert found["pairs"]["cost"][number] == pytest.approx(0.2 * cost)


def test_without_memory_for_all_couplings(monkeypatch):
    """Couplings are read pair by pair, and shares are not known; the page says so."""
    whole = payload(protocols())

    def refuse(self):
        raise NotEnoughMemory("too large")

    monkeypatch.setattr(Coupling, "matrix", refuse)
    found = payload(protocols())
    assert found["explanation"] is None
    assert "too large" in found["explanation_note"]
    held = [k for k, cells in enumerate(found["pairs"]["cells"]) if cells is not None]
    assert held
    assert all(found["pairs"]["cells"][k] == whole["pairs"]["cells"][k] for k in held)
    assert all(found["pairs"]["count"][k] == whole["pairs"]["count"][k] for k in held)
    reached = {k for cells in found["pairs"]["cells"] for k in (cells or [])[::2]}
    assert reached <= set(held)


def test_the_most_likely_way_to_part():
    """The explanation's, by numbers of pairs; none where the two never part."""
    solution = protocols()
    path, found = solution.explain().path, payload(solution)["explanation"]["path"]
    assert [row[0] for row in found["moments"]] == [5 * x + y for x, y in (moment.states for moment in path.moments)]
    assert found["parting"] == path.parting
    assert found["summary"] == path.summary()
    same = bm.distance(protocol(0.1), protocol(0.1, names=list("abcde")), discount=0.9)
    assert payload(same)["explanation"]["path"] is None


def test_the_states_of_one_model_have_a_tree():
    """Two models have none."""
    chain = protocol(0.1)
    keys = [section["key"] for section in payload(bm.distance(chain, chain, discount=0.9))["sections"]]
    assert "tree" in keys
    assert "tree" not in [section["key"] for section in payload(protocols())["sections"]]
