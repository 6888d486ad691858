"""The table of checks: adding one is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.campaign import checks_distance, checks_games, checks_models, checks_objectives
from tests.campaign.cases import Case
from tests.campaign.findings import Finding


class Check(NamedTuple):
    """A check, and the share of the problems on which it runs: expensive checks run on few."""

    run: Callable[[Case], Iterator[Finding]]
    share: float


CHECKS: dict[str, Check] = {
    "policy iteration": Check(checks_distance.policy_iteration, 1.0),
    "value iteration": Check(checks_distance.value_iteration, 0.1),
    "linear program": Check(checks_distance.linear_program, 0.02),
    "Sinkhorn": Check(checks_distance.sinkhorn, 0.05),
    "certify": Check(checks_distance.certify, 0.2),
    "loose tolerance": Check(checks_distance.loose, 0.1),
    "exact certificate": Check(checks_distance.exact_certificate, 0.05),
    "starts": Check(checks_distance.starts, 0.3),
    "coupling": Check(checks_distance.coupling, 0.1),
    "occupancy": Check(checks_distance.occupancy, 0.3),
    "explain": Check(checks_distance.explain, 0.3),
    "pairwise": Check(checks_distance.pairwise, 0.05),
    "horizon": Check(checks_objectives.horizon, 0.2),
    "average": Check(checks_objectives.average, 0.2),
    "MICo": Check(checks_models.mico, 0.3),
    "metric": Check(checks_models.metric, 0.15),
    "labels": Check(checks_models.labels, 0.1),
    "classes": Check(checks_models.classes, 0.1),
    "quotient": Check(checks_models.quotient, 0.15),
    "aggregate": Check(checks_models.aggregate, 0.1),
    "same actions": Check(checks_games.same_actions, 0.06),
    "matched actions": Check(checks_games.matched_actions, 0.04),
    "optimal policy": Check(checks_games.optimal_policy, 0.1),
    "aggregate MDP": Check(checks_games.aggregate_mdp, 0.03),
    "quotient MDP": Check(checks_games.quotient_mdp, 0.05),
}
