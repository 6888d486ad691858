"""`bisimetric metric` on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bisimetric.cli.arguments import (
    MODEL_HELP,
    Command,
    add_actions,
    add_answer,
    add_discount,
    add_reading,
    add_solving,
    add_start,
)
from bisimetric.cli.commands.distance import ANSWER_KEYS
from bisimetric.cli.messages import EXIT_CODES

METRIC_HELP = f"""\
Print the bisimulation metric of a model, or between two: chains with rewards,
or decision processes.

  d(s, t) = (1-γ)·|r(s) - r'(t)| + γ·d(successors of s, successors of t)

under the best coupling of the successors, for decision processes the maximum
over the actions. The optimal discounted rewards of s and t differ by at most
d(s, t)/(1-γ).

With two models the answer is the distance between their starts. With one, or
without starts, it is a summary: the closest and the farthest states. Two
states of one model are compared by --start S T.

Examples:
  bisimetric metric mdp.json --discount 0.9
  bisimetric metric mdp.json --discount 0.9 --start idle busy
  bisimetric metric mdp.json other.json --discount 0.9 --actions matched
  bisimetric metric four-rooms:p1 four-rooms:p0 --discount 0.95 --plot d.png

A decision process in JSON: rewards has a row per state, a column per action;
transitions a matrix per action:
  {{"transitions": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], "start": 0,
   "rewards": [[0, 0], [1, 0]], "actions": ["stay", "go"]}}

{ANSWER_KEYS}
  actions                   same or matched; null for chains. In explain, the
                            decisive actions of the two states"""


def _add_arguments(command: ArgumentParser) -> None:
    add = command.add_argument
    add("source", metavar="MODEL", help=MODEL_HELP)
    add("target", metavar="OTHER", nargs="?", help="The model to compare with; by default MODEL itself.")
    add_discount(command)
    add_actions(command)
    add_start(command)
    add_reading(command)
    add_solving(command)
    add_answer(command)


def _run(options: Namespace) -> int:
    from bisimetric.cli.metric import MetricRequest, run

    return run(MetricRequest.of(options))


COMMAND = Command(
    "metric",
    "metric MODEL [OTHER] --discount G",
    "The bisimulation metric, for decision processes too.",
    METRIC_HELP,
    _add_arguments,
    _run,
    EXIT_CODES,
)
