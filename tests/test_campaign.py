"""A short version of the search for wrong intervals."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.campaign import random_answer, random_problem, run, violations


def test_no_violation_in_a_short_campaign() -> None:
    """The first problems of the long search, on every run."""
    ways, pairs, missed = run(1000, seed=1)
    assert missed == 0
    assert pairs > 1000
    assert len(ways) == 6


def test_the_campaign_sees_a_wrong_interval() -> None:
    """An interval that is moved by its own width is reported."""
    random = np.random.default_rng(0)
    seen = 0
    for _ in range(20):
        problem = random_problem(random)
        _, certificate = random_answer(random, problem)
        moved = dataclasses.replace(certificate, lower=np.nextafter(certificate.upper, np.inf))
        seen += violations(problem, moved)
    assert seen >= 20
