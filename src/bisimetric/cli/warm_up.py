"""`bisimetric warm-up`: compile all kernels and say what that took."""

from __future__ import annotations

from rich.text import Text

from bisimetric.cli.messages import ExitCode
from bisimetric.cli.output import print_json, show
from bisimetric.cli.progress import Progress
from bisimetric.errors import InvalidOption
from bisimetric.kernels._compile import CACHE_VARIABLE, is_code_kept
from bisimetric.many.warm_up import warm_up


def compile_everything(*, as_json: bool, quiet: bool) -> int:
    """Run a small problem of every kind; a line for each tells the seconds."""
    if not is_code_kept():
        raise InvalidOption(
            f"no folder for compiled kernels is writable, so nothing would be kept; set {CACHE_VARIABLE} to one that is"
        )
    kinds: dict[str, float] = {}

    def done(name: str, seconds: float) -> None:
        kinds[name] = round(seconds, 1)
        if not as_json and not quiet:
            show(Text(f"{seconds:7.1f} s  {name}"))

    with Progress() as progress:
        progress.doing("compiling")
        seconds = warm_up(done)
    if as_json:
        print_json({"seconds": round(seconds, 1), "kinds": kinds})
    elif not quiet:
        show(Text(f"{seconds:7.1f} s  in all"))
    return ExitCode.SUCCESS
