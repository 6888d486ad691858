"""Hypothesis settings, and the solvers that every law is tried on."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from bisimetric import solvers

EXACT = ("policy-iteration",)  # adding an exact solver to every law is one name here
APPROXIMATE: tuple[str, ...] = ()

settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=50,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument `exact_solver` runs once for each of them."""
    if "exact_solver" in metafunc.fixturenames:
        metafunc.parametrize("exact_solver", [solvers.ALL[name]() for name in EXACT], ids=EXACT)


@pytest.fixture
def known_solvers() -> set[str]:
    """The names that this suite knows about."""
    return {*EXACT, *APPROXIMATE}
