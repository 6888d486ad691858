"""Recurrent classes, periods and phases of chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from bisimetric.models.recurrence import recurrence
from tests.strategies import multichains


def of(matrix):
    """The recurrence of a dense matrix."""
    return recurrence(sparse.csr_array(np.asarray(matrix, float)))


@pytest.mark.parametrize("period", [1, 2, 3, 7])
def test_cycles(period):
    """A cycle of p states has period p and p phases; with a loop it has none."""
    cycle = np.roll(np.eye(period), 1, axis=1)
    found = of(cycle)
    assert found.period.tolist() == [period]
    assert sorted(found.phase) == list(range(period))
    lazy = of(0.5 * np.eye(period) + 0.5 * cycle)
    assert lazy.period.tolist() == [1]
    assert not lazy.phase.any()


def test_transient_states_and_several_classes():
    """-1 where the chain does not come back."""
    found = of([[0, 0.5, 0.5, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    assert found.class_of[0] == -1
    assert found.class_of[2] == found.class_of[3] != found.class_of[1]
    assert found.period[found.class_of[2]] == 2
    assert found.states.tolist() == [1, 2, 3]
    assert found.transient.tolist() == [True, False, False, False]


@given(multichains(max_states=5))
def test_the_definition(chain):
    """A state is recurrent if it can be reached from wherever it leads; phases rise by one with every move."""
    moves = chain.transitions.toarray() > 0
    reach = np.linalg.matrix_power(np.eye(chain.n_states) + moves, chain.n_states) > 0
    found = recurrence(chain.transitions)
    for state in range(chain.n_states):
        assert (found.class_of[state] >= 0) == all(reach[other, state] for other in np.flatnonzero(reach[state]))
    for x, y in np.argwhere(moves):
        if found.class_of[x] >= 0:
            period = found.period[found.class_of[x]]
            assert found.class_of[y] == found.class_of[x]
            assert (found.phase[x] + 1 - found.phase[y]) % period == 0
