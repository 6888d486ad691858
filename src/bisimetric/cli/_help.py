"""What `--help` says, at most 80 columns wide where lines are kept as they are (after \\b)."""

from __future__ import annotations

EXIT_CODES = """\b
Exit codes:
  0    fine
  1    the distance is above the limit of --fail-above, never anything else
  2    no answer, and a line on stderr that says why: bad input or usage, too
       little memory, output that cannot be written, a defect
  3    undecided: the interval straddles the limit of --fail-above; or
       without --fail-above, --tol was not reached
  130  interrupted; the interval reached so far is on stderr"""

EXAMPLES = """\b
Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance mine.json theirs.json --discount 0.9 --json
  bisimetric states four-rooms:side=20,goal=all
  bisimetric quotient mine.json -o small.json
  bisimetric aggregate mine.json --epsilon 0.05 -o small.json
  bisimetric environments
  bisimetric solvers
  bisimetric reproduce all --quick"""

DISTANCE_HELP = """Print the certified distance between two chains, and where it comes from.

A and B are built-in environments (`bisimetric environments` lists them) or chain files, .json or .npz. Every answer
is an interval that provably holds the true distance. Chains without a start give a summary of the distances between
all their states.

\b
Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance a.json b.json --discount 0.9 --start idle 0
  bisimetric distance a.json b.json --discount 0.9 --cost cost.csv --json
  bisimetric distance old.npz new.npz --discount 0.99 --normalised \\
      --fail-above 0.05
  bisimetric distance grid-3x3 matching-four-rooms --discount 0.95 \\
      --plot rooms.png

\b
A chain file in JSON (all but transitions may be left out):
  {"transitions": [[0.5, 0.5], [0, 1]], "reward": [0, 1], "start": 0,
   "names": ["idle", "busy"], "labels": ["a", "b"]}

\b
Keys of --json, null where there is no such thing:
  distance, lower, upper    between the starts
  gap, relative_gap         max(upper - lower) over all pairs of states, and
                            that divided by the largest upper bound
  tol, tol_reached          the relative gap aimed for, and whether it is met
  source, target, states    as given, and [n, m]
  discount, normalised
  solver, status, message   status SOLVED, COMPLETED, STEP_LIMIT or STALLED
  steps, history            history: [{step, gap, seconds}]
  seconds, memory_bytes     {cpu, wall} from reading the input; peak memory
  explain                   the pairs of states with the largest amounts:
                            [{source, target, occupancy, cost, amount, share}]
                            with cost as given and amount = occupancy · cost,
                            divided by 1-γ if not normalised
  explain_rest              amount of all pairs that are not listed
  summary                   without starts: {n_pairs, zero_pairs, smallest,
                            median, largest, closest}; a pair of states is
                            {source, target, distance, lower, upper}
  limit                     with --fail-above: {fail_above, verdict}, verdict
                            within, above or undecided
"""

REDUCTION_KEYS = """\b
Keys of --json:
  model, states, transitions           as given, and how many
  classes, class_transitions           of the small chain
  class_names                          the name of each class: its first state
  map                                  the class of every state
  seconds, memory_bytes                {cpu, wall}; peak memory"""

STATES_HELP = f"""Print which states of a chain behave alike, and which are closest and farthest.

States are bisimilar if they agree in reward and label and move alike into every class of such states, up to 1e-12 in
every probability. Distances are those of the bisimulation metric: differences of rewards (of labels, if there are no
rewards), discounted and multiplied by 1-γ, under the best coupling. So classes that differ in labels alone are at
distance zero if there are rewards.

\b
Examples:
  bisimetric states four-rooms:side=20,goal=all
  bisimetric states mine.json --discount 0.99 --json

{REDUCTION_KEYS}
  discount, cost                       cost: reward or labels
  relative_gap, status                 of the distances between classes
  tol, tol_reached                     the gap aimed for, and if it is met
  closest, farthest                    [{{source, target, distance, lower,
                                       upper}}], null if there are too many
                                       classes to compute them
"""

QUOTIENT_HELP = f"""Make the smallest chain that behaves like a given one: a state for every class of bisimilar states.

A class has the reward, the label and the name of its first state. Distances from and to the small chain are those of
the given one.

\b
Examples:
  bisimetric quotient mine.json -o small.json
  bisimetric quotient four-rooms:side=100,goal=all -o small.npz --json

{REDUCTION_KEYS}
  output                               the file written, or null
"""

AGGREGATE_HELP = f"""Make a smaller chain that behaves nearly like a given one, with certified bounds.

States are merged if they are within --epsilon of one another in the bisimulation metric (differences of rewards,
discounted and multiplied by 1-γ), or until --n-states are left; give one of the two. The bounds hold for every state s
and its class: on their distance, and on the difference of their values, which are discounted sums of rewards.

\b
Examples:
  bisimetric aggregate mine.json --epsilon 0.05 -o small.json
  bisimetric aggregate four-rooms:side=20 --n-states 50 --discount 0.9

{REDUCTION_KEYS}
  discount
  distance_bound, value_bound          see above
  output                               the file written, or null
"""

REPRODUCE_HELP = """Run an experiment of the paper (Calo et al. 2024) again, with exact distances to compare with.

EXPERIMENT is one of

\b
  role-of-m      estimates against rounds, for several m
  heat-map       3×3 grid against 4-rooms: the symmetries of the distance
  eta            error against rounds, for several step sizes
  running-time   CPU time against n and γ: the paper's settings, and tuned
  instances      35 4-rooms, all pairs, MDS: clusters by way to the reward
  all            all five

Each writes DIR/EXPERIMENT.json (settings, seeds, versions, all numbers) and DIR/EXPERIMENT.png, drawn from that file;
running-time also running-time-tuned.png, and instances keeps finished pairs in DIR/instances-store, from which it goes
on when it was interrupted. Pictures need matplotlib, instances also scikit-learn: pip install 'bisimetric[plot,ml]'.
heat-map and instances take seconds and are never cut short. --quick takes two minutes for all five, the full runs about
half an hour, nearly all of it for running-time.

\b
Examples:
  bisimetric reproduce heat-map
  bisimetric reproduce all --quick --out quick --json

\b
Keys of --json, one object for each experiment:
  experiment, quick, config, versions
  seconds                   {cpu, wall}
  files                     the record and the pictures
  summary                   the key numbers
"""
