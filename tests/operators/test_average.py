"""The closed classes of pairs, and the operators on and outside them."""

from __future__ import annotations

import numpy as np
from hypothesis import given

import bisimetric as bm
from bisimetric.operators.average import AverageBellman, ClosedClasses
from tests.strategies import average_problems


@given(average_problems(max_states=4))
def test_classes_are_those_of_the_independent_coupling(problem):
    """Strongly connected parts of P ⊗ Q that it does not leave; all other pairs are outside."""
    product = np.kron(problem.source.transitions.toarray(), problem.target.transitions.toarray()) > 0
    reach = np.linalg.matrix_power(np.eye(len(product)) + product, len(product)) > 0
    label = ClosedClasses.of(*problem.recurrences).label.ravel()
    for pair in range(len(product)):
        after = np.flatnonzero(reach[pair])
        assert (label[pair] >= 0) == all(reach[other, pair] for other in after)
        if label[pair] >= 0:
            assert np.array_equal(np.flatnonzero(label == label[pair]), after)


def test_numbers_of_classes():
    """Smallest, largest and mean over the pairs of each."""
    flip = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 1])
    classes = ClosedClasses.of(*bm.AverageProblem(flip, flip).recurrences)
    assert classes.count == 2
    vector = np.array([1.0, 5.0, 7.0, 3.0])
    same, other = classes.of_pair[0], classes.of_pair[1]
    assert classes.of_pair.tolist() == [same, other, other, same]
    assert (classes.smallest(vector)[[same, other]] == [1.0, 5.0]).all()
    assert (classes.largest(vector)[[same, other]] == [3.0, 7.0]).all()
    assert (classes.mean(vector)[[same, other]] == [2.0, 6.0]).all()


def test_steps_to_recurrent_states():
    """Each transient state is left with probability 1/4: four steps."""
    slow = bm.MarkovChain([[0.75, 0.25], [0, 1]], reward=[0, 1])
    operator = AverageBellman.of(bm.AverageProblem(slow, slow))
    assert np.allclose(operator.steps, [[4, 0], [4, 0]])
    assert operator.gap_of(1.0) == 9.0
    assert operator.open_pairs.size == 3
    assert operator.on_the_way(np.array([0.5])).cost.tolist() == [[0, 0], [0, 0.5]]
