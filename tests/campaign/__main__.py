"""The command: run, report, and exit with 1 if there are findings."""

from __future__ import annotations

import argparse
import resource
import sys
from collections import Counter

import tests.campaign
from tests.campaign.checks import CHECKS
from tests.campaign.driver import Report, Trouble, run, run_parallel
from tests.campaign.kinds import KINDS

SHOWN = 5  # findings of one sort that are printed; the report counts all


def main() -> int:
    """Run, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=tests.campaign.__doc__)
    parser.add_argument("problems", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS), help="chains of one kind only")
    parser.add_argument("--check", action="append", choices=list(CHECKS), help="run these, on every problem")
    parser.add_argument("--only", metavar="SEED-NUMBER", help="one problem, with the --kind that was printed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="print every finding")
    options = parser.parse_args()
    report, shown = Report(), Counter[tuple[str, bool]]()
    if options.only:
        seed, number = map(int, options.only.split("-"))
        arriving = iter([run(seed, [number], options.kind, options.check)])
    else:
        arriving = run_parallel(options.seed, options.problems, options.jobs, options.kind, options.check)
    for part in arriving:
        report.add(part)
        for trouble in part.troubles:
            _show(trouble, shown, everything=options.all)
    _summarise(report)
    return 1 if report.troubles else 0


def _show(trouble: Trouble, shown: Counter[tuple[str, bool]], *, everything: bool) -> None:
    key = trouble.finding.sort, trouble.finding.gave_up
    shown[key] += 1
    if everything or shown[key] <= SHOWN:
        print(trouble, flush=True)


def _summarise(report: Report) -> None:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(use.ru_utime + use.ru_stime for use in usage)
    wrong, gave_up = Counter[str](), Counter[str]()
    by_kind = Counter[str]()
    for trouble in report.troubles:
        (gave_up if trouble.finding.gave_up else wrong)[trouble.check] += 1
        by_kind[trouble.kind] += 1
    print(f"\n{'check':20}{'run':>9}{'violations':>12}{'gave up':>9}")
    for name in CHECKS:
        print(f"{name:20}{report.checks[name]:9}{wrong[name]:12}{gave_up[name]:9}")
    sorts = Counter(f"{'gave up' if t.finding.gave_up else 'violation'}: {t.finding.sort}" for t in report.troubles)
    print("\nsorts of findings:", _counts(sorts) or "none")
    print("kinds (problems, findings):", _counts({k: f"{c} {by_kind[k]}" for k, c in report.problems.items()}))
    print("status of the default solver:", _counts(report.statuses))
    print("refused:", _counts(report.refused) or "none")
    print(
        f"{sum(report.problems.values())} problems, {sum(report.checks.values())} checks, "
        f"{len(report.violations)} violations, {len(report.gave_up)} unexpected STALLED or failures, "
        f"{seconds:.0f} CPU seconds"
    )


def _counts(counted: dict[str, int] | dict[str, str] | Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counted.items()))


if __name__ == "__main__":
    sys.exit(main())
