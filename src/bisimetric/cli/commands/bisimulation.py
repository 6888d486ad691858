"""`bisimetric states`, `quotient` and `aggregate` on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bisimetric.cli.arguments import (
    Command,
    add_actions,
    add_model,
    add_out,
    add_plot,
    add_report,
    add_time_limit,
    add_usual_discount,
)

OUT_HELP = (
    "Write the small model to FILE, by its ending: .json, .npz, …; `bisimetric convert --help` lists them; - is stdout."
)

REDUCTION_KEYS = """\
Keys of --json:
  model, states, transitions    as given, and how many
  classes, class_transitions    of the small model
  class_names                   the name of each class: that of its first state
  map                           the class of every state
  seconds, memory_bytes         {cpu, wall}; peak memory"""

STATES_HELP = f"""\
Print which states of a model behave alike, and which are closest and farthest.

States are bisimilar if they have the same reward and label and move with the
same probabilities (up to 1e-12) into every class of bisimilar states; in a
decision process, under every action. Distances are those of the bisimulation
metric: differences of rewards (of labels, if there are no rewards), discounted
and multiplied by 1-γ, under the best coupling. Where there are rewards,
classes that differ in labels alone are at distance zero. `bisimetric metric`
compares states without merging them, and different models.

Examples:
  bisimetric states four-rooms:side=20,goal=all
  bisimetric states mine.json --discount 0.99 --json

{REDUCTION_KEYS}
  discount, cost                cost: reward or labels
  relative_gap, status          of the distances between classes
  tol, tol_reached              the relative gap to reach, and if it is met
  closest, farthest             [{{source, target, distance, lower, upper}}];
                                null if the classes are too many for distances"""

QUOTIENT_HELP = f"""\
Make the smallest model that behaves like a given one: a state for every class
of bisimilar states.

A class has the reward, the label and the name of its first state. The small
model has the same distances to other models as the given one.

Examples:
  bisimetric quotient mine.json --out small.json
  bisimetric quotient four-rooms:side=100,goal=all --out small.npz --json
  bisimetric quotient mdp.prism --actions matched --out small.drn

{REDUCTION_KEYS}
  output                        the file written, or null"""

AGGREGATE_HELP = f"""\
Make a smaller model that behaves nearly like a given one, with certified
bounds.

States are merged if they are within --epsilon of one another in the
bisimulation metric (differences of rewards, discounted and multiplied by 1-γ),
or until --n-states are left; give one of the two. Two bounds hold for every
state and its class: on their distance, and on the difference of their values,
the discounted sums of rewards.

Examples:
  bisimetric aggregate mine.json --epsilon 0.05 --out small.json --plot map.png
  bisimetric aggregate four-rooms:side=20 --n-states 50 --discount 0.9 \\
      --report rooms.html

{REDUCTION_KEYS}
  discount
  distance_bound, value_bound   see above
  policy_loss                   what the small model's optimal policy loses at
                                most in a decision process; null for chains
  output                        the file written, or null"""


def _add_states_arguments(command: ArgumentParser) -> None:
    add_model(command)
    add_usual_discount(command)
    add_actions(command)
    add_time_limit(command)


def _add_quotient_arguments(command: ArgumentParser) -> None:
    add_model(command)
    add_actions(command)
    add_out(command, OUT_HELP)


def _add_aggregate_arguments(command: ArgumentParser) -> None:
    add_model(command)
    command.add_argument("--epsilon", type=float, metavar="E", help="The largest distance inside a class, E ≥ 0.")
    command.add_argument("--n-states", type=int, metavar="N", help="The number of states of the small model.")
    add_usual_discount(command)
    add_out(command, OUT_HELP)
    add_plot(command, "which states are merged")
    add_report(command)


def _states(options: Namespace) -> int:
    from bisimetric.cli.bisimulation import ReductionRequest, run_states

    return run_states(ReductionRequest.of(options), options.actions, options.discount, options.time_limit)


def _quotient(options: Namespace) -> int:
    from bisimetric.cli.bisimulation import ReductionRequest, run_quotient

    return run_quotient(ReductionRequest.of(options), options.actions, options.out)


def _aggregate(options: Namespace) -> int:
    from bisimetric.cli.bisimulation import AggregateRequest, run_aggregate

    return run_aggregate(AggregateRequest.of(options))


STATES_COMMAND = Command(
    "states",
    "states MODEL",
    "Which states behave alike, which are close.",
    STATES_HELP,
    _add_states_arguments,
    _states,
)
QUOTIENT_COMMAND = Command(
    "quotient",
    "quotient MODEL",
    "The smallest model that behaves the same.",
    QUOTIENT_HELP,
    _add_quotient_arguments,
    _quotient,
)
AGGREGATE_COMMAND = Command(
    "aggregate",
    "aggregate MODEL",
    "A smaller model that behaves nearly the same.",
    AGGREGATE_HELP,
    _add_aggregate_arguments,
    _aggregate,
)
