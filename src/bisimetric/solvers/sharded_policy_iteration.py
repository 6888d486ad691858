"""Policy iteration with the transport trees of all pairs shared out between the workers of a Ray cluster.

    improve     every worker: π_k(x, y) ∈ argmin { <π, V_k> } and T V_k - V_k on its source rows x
    evaluate    here: V_{k+1} = V_k + d,  (I - γπ_k) d = T V_k - V_k, with products by all workers

These are the steps of `policy_iteration`, to the last bit whatever the number of workers, so it ends where that does.

References: Howard 1960; O'Connor, McGoff & Nobel 2022; Calo et al. 2024.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from bisimetric._support import memory
from bisimetric._support.options import check_kind, whole
from bisimetric.kernels.layout import START_ACCURACY
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import rough_value
from bisimetric.operators.trees import PAIR_VECTORS, STATE_VECTORS, outline_of_trees
from bisimetric.sharding.actors import RayShards
from bisimetric.sharding.operator import ShardedBellman, ShardedEvaluation, ShardedWitness
from bisimetric.sharding.shards import Shards
from bisimetric.solvers.base import TreeIterate, sweep_trees
from bisimetric.solvers.policy_iteration import PolicyIterate, PolicyIteration


@dataclass(frozen=True, slots=True)
class ShardedPolicyIteration(PolicyIteration):
    """`PolicyIteration` for one problem on a Ray cluster, or on a Ray of this machine (extra `ray`).

    The pairs of states are shared out by source rows. Every worker keeps the transport trees of its rows; values and
    vectors are kept by the solving process, and travel. The answer has the same bits as that of `PolicyIteration` on
    one machine with the same kind of processor. A worker that dies is started anew, and its rows are computed again.

    Parameters
    ----------
    accuracy : float in (0, 1), default 0.01
        As in `PolicyIteration`.
    workers : int, default 2
        Processes that share the source rows.
    threads : int, default 1
        Threads of each worker, which takes that many of Ray's CPUs.
    address : str, optional
        A Ray cluster: `"host:port"`, `"ray://host:port"` or `"auto"`. By default the connection that the program has,
        else the cluster in RAY_ADDRESS, else a Ray that is started on this machine and ends with the solve.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.ShardedPolicyIteration(workers=4, address="10.0.0.1:6379")
    ShardedPolicyIteration(accuracy=0.01, workers=4, threads=1, address='10.0.0.1:6379')
    """

    name: ClassVar[str] = "sharded-policy-iteration"
    undiscounted: ClassVar[bool] = False

    workers: int = 2
    threads: int = 1
    address: str | None = None

    def __post_init__(self) -> None:
        PolicyIteration.__post_init__(self)
        whole(self.workers, "workers", at_least=1)
        whole(self.threads, "threads", at_least=1)
        if self.address is not None:
            check_kind(self.address, "address", str, "the address of a Ray cluster such as 'host:port', or None")

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> PolicyIterate:
        n, m = bellman.shape
        here = 8 * (PAIR_VECTORS * bellman.pairs.size + STATE_VECTORS * n * m)
        memory.require(here, f"values at {n} x {m} state pairs", "take a machine with more memory")
        return self.start(self._shards(bellman), bellman, value, tol)

    def _shards(self, bellman: Bellman) -> Shards:
        return RayShards(bellman, self.workers, self.threads, self.address)

    def start(self, shards: Shards, bellman: Bellman, value: Floats | None, tol: float) -> PolicyIterate:
        """The first iterate, over these shards."""
        operator = ShardedBellman.over(shards, bellman)
        begin = rough_value(bellman, START_ACCURACY) if value is None else value
        swept = sweep_trees(operator, begin, outline_of_trees(bellman, may_round=True), cold=True)
        evaluation = ShardedEvaluation(operator)
        witness = _scattered(swept)
        return PolicyIterate(swept.value, witness, swept.gap, swept.sweep, evaluation, self.accuracy, tol)

    def step(self, bellman: Bellman, iterate: PolicyIterate) -> PolicyIterate:
        after = PolicyIteration.step(self, iterate.bellman, iterate)
        return iterate if after is iterate else replace(after, witness=_scattered(after))


def _scattered(iterate: TreeIterate) -> ShardedWitness:
    operator = iterate.bellman
    assert isinstance(operator, ShardedBellman)
    return ShardedWitness(operator, iterate.value, iterate.trees)
