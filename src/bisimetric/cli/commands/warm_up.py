"""`bisimetric warm-up` on the command line."""

from __future__ import annotations

from argparse import Namespace

from bisimetric.cli.arguments import Command, add_nothing

WARM_UP_HELP = """\
Compile all kernels and keep them, so that no later call has to: for images,
CI and services. It takes about two minutes, and no time when all is compiled.
The folder is that of BISIMETRIC_CACHE_DIR, or the user's cache; where it cannot
be written nothing is compiled, and the exit code is 2.

Examples:
  bisimetric warm-up
  BISIMETRIC_CACHE_DIR=/opt/kernels bisimetric warm-up --quiet

Keys of --json:
  seconds                   that compilation took
  kinds                     seconds of each kind of problem"""


def _warm_up(options: Namespace) -> int:
    from bisimetric.cli.warm_up import compile_everything

    return compile_everything(as_json=options.as_json, quiet=options.quiet)


COMMAND = Command(
    "warm-up", "warm-up", "Compile all kernels once, for images and CI.", WARM_UP_HELP, add_nothing, _warm_up
)
