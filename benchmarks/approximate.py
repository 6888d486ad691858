"""Entropic peers: ot-markov-distances, and the paper's two methods as plain NumPy with the authors' settings.

ot-markov-distances iterates, with δ = 1-γ,

    C ← δ c + (1-δ) · OT_ε(C),      V ≈ C/δ,

where OT_ε is entropic transport with reg ε by its own Sinkhorn, whose value has the entropy in it: a bias that is
divided by 1-γ. So its policy counts as well: the plans of one more Sinkhorn at its last C, which
are its gradient with respect to C. Its warning when the iteration does not converge is recorded and is not an error.

Plain NumPy: the couplings after K rounds of Sinkhorn value and policy iteration, one operator application a round
(m = 1), with η = 1 as in the authors' script, and with others. A constant η stalls at a bias; a smaller η stalls
later and closer. One run serves several K, because it yields its couplings on the way. Only the policy counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

import bisimetric as bm
from benchmarks import plain
from benchmarks.outcomes import Outcome, Supports, policy_value
from benchmarks.peers import Floats

OUTER = 2000  # iterations of ot-markov-distances at most
ABSOLUTE = 1e-12  # its absolute threshold, so small that the relative one decides
LOOKS = (15, 50, 150, 500, 1500, 5000)  # rounds; the authors' script has 50

Setting = dict[str, float]


class Look(NamedTuple):
    """The state of a run after some rounds: the setting that stops there, and its outcome."""

    setting: Setting
    outcome: Outcome


def ot_markov_distances(problem: bm.Problem, setting: Setting) -> Outcome:
    """Run ot-markov-distances with `reg` relative to the largest cost, `rtol`, and at most `sinkhorn` steps a round."""
    import torch
    from ot_markov_distances.discounted_wl import discounted_wl_infty_cost_matrix

    torch.set_num_threads(1)
    torch.manual_seed(0)  # its Sinkhorn starts from random potentials
    scale = float(problem.cost.max())
    rows = [torch.from_numpy(chain.transitions.toarray())[None] for chain in (problem.source, problem.target)]
    with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = discounted_wl_infty_cost_matrix(
            *rows,
            torch.from_numpy(problem.cost / scale)[None],
            delta=1 - problem.discount,
            sinkhorn_reg=setting["reg"],
            max_iter=OUTER,
            convergence_threshold_rtol=setting["rtol"],
            convergence_threshold_atol=ABSOLUTE,
            sinkhorn_iter=int(setting["sinkhorn"]),
        )[0].numpy()
    value = scale * found / (1 - problem.discount)
    said = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return Outcome(value, lambda: _implied(problem, found, setting), said)


def _implied(problem: bm.Problem, value: Floats, setting: Setting) -> Floats:
    """V^π of the plans of its Sinkhorn at this value; a plan is the gradient of its result."""
    import torch
    from ot_markov_distances.sinkhorn import sinkhorn

    source, target = Supports.of(problem.source), Supports.of(problem.target)
    costs = torch.from_numpy(value[source.column[:, None, :, None], target.column[None, :, None, :]])
    weights = torch.from_numpy(source.weight[:, None]), torch.from_numpy(target.weight[None])
    total = sinkhorn(*weights, costs.requires_grad_(), setting["reg"], int(setting["sinkhorn"])).sum()
    (plans,) = torch.autograd.grad(total, costs)
    return policy_value(problem, plans.numpy(), source, target)


def numpy_rounds(method: str, looks: Sequence[int] = LOOKS) -> Callable[[bm.Problem, Setting], Iterator[Look]]:
    """The couplings of "svi" or "spi" on [n, m, n, m] arrays with constant `step`, after each number of rounds.

    An overflow is an error.
    """

    def run(problem: bm.Problem, setting: Setting) -> Iterator[Look]:
        supports = Supports.full(problem.source), Supports.full(problem.target)
        rounds = plain.rounds(method, problem, setting["step"])
        done = 0
        for look in looks:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                plans = next(islice(rounds, look - done - 1, None))
            done = look
            yield Look(setting | {"rounds": look}, Outcome(None, partial(policy_value, problem, plans, *supports)))

    return run
