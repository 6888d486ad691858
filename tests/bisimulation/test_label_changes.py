"""Chains whose steps are changes of label."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidProblem, NotEnoughMemory
from tests import reference
from tests.bisimulation.labelled import die, distances, labelled_chains, throw


def test_the_die_from_coins_and_a_fair_die_are_the_same():
    """Knuth and Yao's die takes three tosses or more, a die is thrown once: the outcomes are the same."""
    assert distances(die(), throw()).distance == pytest.approx(1, abs=1e-12)
    assert distances(bm.label_changes(die()), throw()).interval == (0.0, 0.0)
    bent = distances(bm.label_changes(die(0.01)), throw())
    assert 0 < bent.interval[0] <= bent.interval[1] < 0.03


@given(labelled_chains(max_states=5))
def test_equals_rational_numbers(chain):
    """P̃ = (I - S)⁻¹ L, within the row error."""
    found = bm.label_changes(chain)
    rows, exact = found.transitions.toarray(), exact_changes(chain)
    for x, truth in enumerate(exact):
        off = sum((abs(Fraction(float(p)) - q) for p, q in zip(rows[x], truth, strict=True)), Fraction(0))
        assert off <= Fraction(float(found.row_error[x]))
    assert found.row_error.max() < 1e-10
    assert found.labels == chain.labels


def exact_changes(chain):
    """Rows of Fractions."""
    n = chain.n_states
    rows = [[Fraction(float(p)) for p in row] for row in chain.transitions.toarray()]
    same = [[chain.labels[x] == chain.labels[y] for y in range(n)] for x in range(n)]
    leaves = {x for x in range(n) if any(rows[x][y] and not same[x][y] for y in range(n))}
    for _ in range(n):
        leaves |= {x for x in range(n) if any(rows[x][y] and y in leaves and same[x][y] for y in range(n))}
    silent = [[rows[x][y] * (same[x][y] and x in leaves and y in leaves) for y in range(n)] for x in range(n)]
    grains = [
        [int(reference.GRAINS * ((x == y) - silent[x][y])) for y in range(n)] for x in range(n)
    ]  # I - S in whole numbers
    found = [[Fraction(0)] * n for _ in range(n)]
    for y in range(n):
        column = [(rows[x][y] - silent[x][y]) if x in leaves else Fraction(x == y) for x in range(n)]
        for x, p in enumerate(reference.solve_exactly(grains, column)):
            found[x][y] = reference.GRAINS * p
    return found


@given(labelled_chains(max_states=4), st.data())
def test_waiting_changes_nothing(chain, data):
    """Self-loops of any probability below one."""
    stay = [data.draw(st.sampled_from((0.0, 0.25, 0.875))) for _ in range(chain.n_states)]
    rows = chain.transitions.toarray()
    slow = bm.MarkovChain(np.diag(stay) + (1 - np.array(stay))[:, None] * rows, labels=chain.labels)
    assert not distances(bm.label_changes(chain), bm.label_changes(slow)).upper.diagonal().any()


@given(labelled_chains(max_states=4))
def test_changes_of_changes(chain):
    """Nothing is left to do, except that states which surely keep their label are ends."""
    once = bm.label_changes(chain)
    assert not distances(once, bm.label_changes(once)).upper.diagonal().any()


def test_names_starts_and_long_waits():
    """They stay; row errors grow with the wait."""
    chain = bm.MarkovChain(
        [[1 - 1e-6, 5e-7, 5e-7], [0, 1, 0], [0, 0, 1]], labels=["a", "b", "c"], names=["x", "y", "z"], start="x"
    )
    found = bm.label_changes(chain)
    assert found.names == chain.names
    assert np.array_equal(found.start, chain.start)
    assert found.transitions.toarray()[0] == pytest.approx([0, 0.5, 0.5], abs=1e-9)
    assert 1e-12 < found.row_error[0] < 1e-7


def test_what_is_refused(free_memory):
    """Chains without labels, and too many jumps."""
    with pytest.raises(InvalidProblem, match="no labels"):
        bm.label_changes([[1.0]])
    free_memory(10)
    with pytest.raises(NotEnoughMemory, match="next labels"):
        bm.label_changes(die())
