"""First trees: spanning, strongly feasible, whatever the ties."""

from __future__ import annotations

import pytest

from tests.kernels.transport.transport_samples import CASES, Instance, values

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_first_trees_are_sound(case):
    """With a pivot tolerance that nothing exceeds, a first sweep leaves the trees that it starts with."""
    instance = Instance(*case)
    for value in values(instance.bellman.shape):
        instance.improve(value, cold=True, tol=1e9)
        instance.check_trees()
