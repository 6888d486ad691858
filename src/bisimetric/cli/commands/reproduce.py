"""`bisimetric reproduce` on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from bisimetric.cli.arguments import Command

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
take a minute of CPU time with --quick and about half an hour without, nearly
all of it for running-time.

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


def _add_arguments(command: ArgumentParser) -> None:
    command.add_argument("experiment", metavar="EXPERIMENT", help="One of those above.")
    command.add_argument("--quick", action="store_true", help="Fewer sizes, seeds and rounds.")
    command.add_argument(
        "-o", "--out", metavar="DIR", help="Folder for the files; by default reproduction, or reproduction-quick."
    )
    command.add_argument("--instances", metavar="DIR", help="Folder with other instances, such as the authors'.")


def _run(options: Namespace) -> int:
    from bisimetric.cli.reproduce import run_reproduce

    return run_reproduce(
        options.experiment, options.out, quick=options.quick, instances=options.instances, as_json=options.as_json
    )


COMMAND = Command(
    "reproduce",
    "reproduce EXPERIMENT",
    "The paper's experiments, again.",
    REPRODUCE_HELP,
    _add_arguments,
    _run,
)
