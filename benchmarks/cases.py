"""Solve problems with trusted answers: `python -m benchmarks.cases FOLDER`.

The folder holds `.npz` files with arrays P, Q, c, gamma, V_true and a tolerance `tol` (kind "chain"), or P, c, gamma
and the classes `block` of bisimilar states (kind "bisim"). Prints a line a case; exits with 1 if one fails.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

import bisimetric as bm

Case = dict[str, npt.NDArray[np.generic]]


def solved(case: Case) -> bm.Solution:
    """Solve a case to the default tolerance; rows are rescaled, because some cases were fitted to data."""
    source = bm.MarkovChain.normalised(case["P"])
    target = bm.MarkovChain.normalised(case.get("Q", case["P"]))
    return bm.solve(bm.Problem(source, target, discount=float(case["gamma"]), cost=case["c"]))


def failure(case: Case, solution: bm.Solution) -> str:
    """What is wrong with the answer, or an empty text."""
    if str(case["kind"]) == "bisim":
        same = case["block"][:, None] == case["block"]
        wrong = int(((solution.value <= float(case["zero_thr"])) != same).sum())
        return f"{wrong} pairs in the wrong class" if wrong else ""
    truth = case["V_true"].astype(np.float64)
    slack = float(case["oracle_err"]) * truth.max()
    error = float(np.abs(solution.value - truth).max() / truth.max())
    if error > float(case["tol"]):
        return f"relative error {error:.1e}"
    outside = (truth < solution.lower - slack) | (truth > solution.upper + slack)
    return f"{int(outside.sum())} intervals miss the answer" if outside.any() else ""


def main(folder: Path) -> int:
    """Run every chain and bisimulation case in the folder."""
    failures = ran = 0
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as archive:
            case: Case = {name: archive[name] for name in archive.files}
        if str(case["kind"]) not in ("chain", "bisim"):
            continue
        solution = solved(case)
        wrong = failure(case, solution)
        ran += 1
        failures += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok':4}  {path.stem:28}  relative gap {solution.relative_gap:.0e}  {wrong}")
    print(f"{ran - failures} passed, {failures} failed")
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.cases FOLDER")
    sys.exit(main(Path(sys.argv[1])))
