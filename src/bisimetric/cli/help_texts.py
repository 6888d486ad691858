"""The texts of `--help`, at most 79 columns wide; the parser prints them unchanged."""

from __future__ import annotations

OVERVIEW = """\
Certified optimal-transport distances and bisimulation metrics between Markov
chains."""

EXIT_CODES = """\
Exit codes:
  0    success
  1    the distance is above the limit of --fail-above; nothing else gives 1
  2    no answer, and a line on stderr that says why: wrong input or usage, too
       little memory, output that cannot be written, a defect
  3    undecided: the interval contains the limit of --fail-above; or, without
       --fail-above, --tol was not reached
  130  interrupted; the interval reached so far is on stderr
"""

OVERVIEW_END = f"""\
Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance mine.json theirs.json --discount 0.9 --json
  bisimetric states four-rooms:side=20,goal=all
  bisimetric quotient mine.json -o small.json
  bisimetric aggregate mine.json --epsilon 0.05 -o small.json
  bisimetric environments
  bisimetric solvers
  bisimetric reproduce all --quick

`bisimetric COMMAND --help` explains a command.

{EXIT_CODES}"""

DISTANCE_HELP = """\
Print the certified distance between two chains, and where it comes from.

A and B are built-in environments (`bisimetric environments` lists them) or
chain files, .json or .npz. The answer is an interval that provably contains
the true distance. If a chain has no start, a summary of the distances between
all states is printed instead.

Examples:
  bisimetric distance four-rooms:p1 four-rooms:p0 --discount 0.95
  bisimetric distance a.json b.json --discount 0.9 --start idle 0
  bisimetric distance a.json b.json --discount 0.9 --cost cost.csv --json
  bisimetric distance old.npz new.npz --discount 0.99 --normalised \\
      --fail-above 0.05 --time-limit 60
  bisimetric distance grid-3x3 matching-four-rooms --discount 0.95 \\
      --plot rooms.png

A chain file in JSON (all but transitions may be left out):
  {"transitions": [[0.5, 0.5], [0, 1]], "reward": [0, 1], "start": 0,
   "names": ["idle", "busy"], "labels": ["a", "b"]}

Keys of --json, null where a value does not exist:
  distance, lower, upper    between the starts
  gap, relative_gap         max(upper - lower) over all pairs of states, and
                            that divided by the largest upper bound
  tol, tol_reached          the relative gap to reach, and whether it is met
  source, target, states    as given, and [n, m]
  discount, normalised
  solver, status, message   status SOLVED, COMPLETED, STEP_LIMIT, TIME_LIMIT
                            or STALLED
  steps, history            history: [{step, gap, seconds}]
  seconds, memory_bytes     {cpu, wall} from reading the input; peak memory
  explain                   null after --time-limit; otherwise the pairs of
                            states with the largest amounts:
                            [{source, target, occupancy, cost, amount, share}]
                            with cost as given and amount = occupancy · cost,
                            divided by 1-γ if not normalised
  explain_rest              amount of all pairs that are not listed
  summary                   without starts: {n_pairs, zero_pairs, smallest,
                            median, largest, closest}; a pair of states is
                            {source, target, distance, lower, upper}
  limit                     with --fail-above: {fail_above, verdict}; verdict
                            is within, above or undecided"""

REDUCTION_KEYS = """\
Keys of --json:
  model, states, transitions    as given, and how many
  classes, class_transitions    of the small chain
  class_names                   the name of each class: that of its first state
  map                           the class of every state
  seconds, memory_bytes         {cpu, wall}; peak memory"""

STATES_HELP = f"""\
Print which states of a chain behave alike, and which are closest and farthest.

States are bisimilar if they have the same reward and label and move with the
same probabilities (up to 1e-12) into every class of bisimilar states.
Distances are those of the bisimulation metric: differences of rewards (of
labels, if there are no rewards), discounted and multiplied by 1-γ, under the
best coupling. Where there are rewards, classes that differ in labels alone are
at distance zero.

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
Make the smallest chain that behaves like a given one: a state for every class
of bisimilar states.

A class has the reward, the label and the name of its first state. The small
chain has the same distances to other chains as the given one.

Examples:
  bisimetric quotient mine.json -o small.json
  bisimetric quotient four-rooms:side=100,goal=all -o small.npz --json

{REDUCTION_KEYS}
  output                        the file written, or null"""

AGGREGATE_HELP = f"""\
Make a smaller chain that behaves nearly like a given one, with certified
bounds.

States are merged if they are within --epsilon of one another in the
bisimulation metric (differences of rewards, discounted and multiplied by 1-γ),
or until --n-states are left; give one of the two. Two bounds hold for every
state and its class: on their distance, and on the difference of their values,
the discounted sums of rewards.

Examples:
  bisimetric aggregate mine.json --epsilon 0.05 -o small.json
  bisimetric aggregate four-rooms:side=20 --n-states 50 --discount 0.9

{REDUCTION_KEYS}
  discount
  distance_bound, value_bound   see above
  output                        the file written, or null"""

REPRODUCE_HELP = """\
Run an experiment of the paper (Calo et al. 2024) again and compare it with
exact distances.

EXPERIMENT is one of
  role-of-m      estimates by round, for several m
  heat-map       3×3 grid against 4-rooms: the symmetries of the distance
  eta            error by round, for several step sizes
  running-time   CPU time by n and γ: the paper's settings, and tuned
  instances      35 4-rooms, all pairs, MDS: clusters by way to the reward
  all            all five

Each writes DIR/EXPERIMENT.json (settings, seeds, versions, all numbers) and
draws DIR/EXPERIMENT.png from that file; running-time draws a second picture,
running-time-tuned.png. instances keeps finished pairs in DIR/instances-store
and continues from there after an interrupt. Pictures need matplotlib, instances
also scikit-learn: pip install 'bisimetric[plot,ml]'.

heat-map and instances take seconds, and --quick does not change them. All five
take two minutes with --quick and about half an hour without, nearly all of it
for running-time.

--instances DIR takes the instances from a folder: every .json file as the
authors published theirs ({"transition_function": [[…]], "reward": […],
"nu_0": […]}), every chain file (.json, .npz) and every map (.txt) in it.

Examples:
  bisimetric reproduce heat-map
  bisimetric reproduce instances --instances SVI/benchmarks/stochastic/3_rewards
  bisimetric reproduce all --quick --out quick --json

Keys of --json, one object per experiment:
  experiment, quick, config, versions
  seconds                   {cpu, wall}
  files                     the record and the pictures
  summary                   the key numbers"""

SOLVERS_HELP = """\
List the solvers, with their tolerances and options.

Examples:
  bisimetric solvers
  bisimetric solvers --json
  bisimetric distance grid-3x3 open-grid:3 --discount 0.9 \\
      --solver value-iteration"""

ENVIRONMENTS_HELP = """\
List the built-in environments.

Examples:
  bisimetric environments
  bisimetric environments --json
  bisimetric distance grid-3x3 matching-four-rooms --discount 0.9"""
