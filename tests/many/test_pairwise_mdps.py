"""Tables of distances between decision processes: what `bisimulation_metric` says about every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidOption, InvalidProblem, MissingStart
from tests.many.pair_samples import random_chains, tables


def random_mdp(n, seed, actions=2, names=None):
    """A process with a start, some actions, and sparse rows."""
    random = np.random.default_rng(seed)
    rows = random.dirichlet(np.full(n, 0.3), (actions, n))
    return bm.MDP(rows, random.integers(0, 4, (n, actions)), start=seed % n, actions=names)


MADE = [random_mdp(n, n) for n in (2, 4, 3)]


@pytest.mark.parametrize("actions", ["same", "matched"])
def test_every_entry_is_the_metric_between_the_starts(actions):
    """Normalised, with its certified bounds; symmetric, and zero on the diagonal."""
    found = bm.pairwise(MADE, discount=0.8, actions=actions)
    for i, a in enumerate(MADE):
        for j, b in enumerate(MADE):
            exact = bm.bisimulation_metric(a, b, discount=0.8, actions=actions)
            assert found.lower[i, j] <= exact.interval[1]
            assert exact.interval[0] <= found.upper[i, j]
            assert found.value[i, j] == pytest.approx(exact.distance, abs=1e-8)
    np.testing.assert_array_equal(tables(found), tables(found).transpose(0, 2, 1))
    assert not found.value.diagonal().any()
    assert found.question.normalised
    assert found.question.solver == bm.bisimulation_metric(MADE[0], discount=0.8).solver


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.1, 0.9]))
def test_one_action_is_a_chain(seed, n, m, discount):
    """A process with one action is at the distance of the chains, normalised."""
    mdps = [random_mdp(size, seed + k, actions=1) for k, size in enumerate((n, m))]
    chains = [mdp.under("uniform") for mdp in mdps]
    found = bm.pairwise(mdps, discount=discount)
    expected = bm.pairwise(chains, discount=discount, normalised=True)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-7)
    assert (found.lower <= expected.upper).all()
    assert (expected.lower <= found.upper).all()


def test_names_of_actions_meet(tmp_path):
    """The same process with its actions in another order is at no distance; without names it is at some."""
    first = random_mdp(3, 1, names=["left", "right"])
    turned = bm.MDP(first.transitions[::-1], first.rewards[:, ::-1], start=first.start, actions=["right", "left"])
    assert bm.pairwise([first, turned], discount=0.8, store=tmp_path).value[0, 1] == pytest.approx(0.0, abs=1e-9)
    plain = [bm.MDP(mdp.transitions, mdp.rewards, start=mdp.start) for mdp in (first, turned)]
    assert bm.pairwise(plain, discount=0.8, store=tmp_path).value[0, 1] > 0.01


def test_a_store_keeps_processes_too(tmp_path):
    """Each question by itself; two lists, and workers that are threads, find the same bits."""
    seen = []
    options = {"discount": 0.8, "store": tmp_path, "on_pair": seen.append}
    whole = bm.pairwise(MADE, **options)
    across = bm.pairwise(MADE[:1], MADE[1:], n_jobs=2, backend="threading", **options)
    assert len(seen) == 3
    np.testing.assert_array_equal(tables(across), tables(whole)[:, :1, 1:])
    bm.pairwise(MADE, actions="matched", **options)
    assert len(seen) == 6


def test_files_of_processes(tmp_path):
    """Are processes; what `as_chain` walks stays a chain."""
    paths = [tmp_path / f"{k}.json" for k in range(2)]
    for path, mdp in zip(paths, MADE, strict=False):
        mdp.save(path)
    found = bm.pairwise(paths, discount=0.8)
    np.testing.assert_array_equal(tables(found), tables(bm.pairwise(MADE[:2], discount=0.8)))
    assert found.question.rows == tuple(map(str, paths))
    walked = bm.pairwise(["gym:FrozenLake-v1"], ["grid-3x3"], discount=0.5)
    assert not walked.question.normalised


def test_bad_lists_name_the_item():
    """Mixed kinds, other actions, no start; and options that processes do not have."""
    chain = random_chains()[0]
    with pytest.raises(InvalidProblem, match=r"chains\[0\] is a decision process and chains\[1\] is a chain"):
        bm.pairwise([MADE[0], chain], discount=0.8)
    with pytest.raises(InvalidProblem, match=r"chains\[0\] is a chain and others\[1\] is a decision process"):
        bm.pairwise([chain], [chain, MADE[0]], discount=0.8)
    with pytest.raises(InvalidProblem, match=r"chains\[2\].*3"):
        bm.pairwise([*MADE[:2], random_mdp(2, 0, actions=3)], discount=0.8)
    bare = bm.MDP(MADE[0].transitions, MADE[0].rewards)
    with pytest.raises(MissingStart, match=r"chains\[1\]"):
        bm.pairwise([MADE[0], bare], discount=0.8)
    for wrong in ({"cost": np.ones((2, 2))}, {"actions": "any"}, {"solver": "sinkhorn-value-iteration"}):
        with pytest.raises(InvalidOption, match=next(iter(wrong)) if "solver" not in wrong else "decision processes"):
            bm.pairwise(MADE, discount=0.8, **wrong)
    with pytest.raises(InvalidOption, match="actions is 'matched'"):
        bm.pairwise([chain], discount=0.8, actions="matched")
    with pytest.raises(InvalidOption, match="chains is a MDP"):
        bm.pairwise(MADE[0], discount=0.8)
