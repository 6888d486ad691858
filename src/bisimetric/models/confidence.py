"""How far the rows of an estimated chain may be from the true ones, with a given probability.

A state x was left N times, and p̂ is the share of each of the S states that could follow. Then with probability 1 -
δ, for all N at once,

    ‖p̂ - p‖₁  ≤  2 · max { q - p : p ≤ q,  N·kl(q‖p) ≤ ln(2√N) + ln C(S, b) + ln((S-1)/δ),  1 ≤ b ≤ k },

where kl is the divergence of two coins, k the number of states that followed at least once, and q any share that b
of those states can have together.

*Proof.* ‖p̂ - p‖₁ = 2 (p̂(B) - p(B)) for B = {p̂ > p}, a set of states that were seen, of size b ≤ k (Weissman et
al. 2003 take the union over all sets B; here sets of size b share the probability δ/(S-1), so that rows with few
successors pay for few sets). For one B the draws are coins. The mixture of their likelihoods by Krichevsky and
Trofimov, divided by the true one, is a martingale with mean 1; it exceeds 1/δ for some N with probability at most δ
(Ville 1939), and is at least e^(N·kl(p̂(B)‖p(B)))/(2√N). So N may be random and depend on what was seen, as visits
of a Markov chain do: the draws at the visits of x are independent of one another, whatever the order of visits.

This needs sequences that are independent of one another, each a path of the same Markov chain that ends at a time
which does not look ahead. The divergence instead of its quadratic bound makes radii of nearly deterministic rows
shrink like 1/N.

The function kl is convex in (q, p), so q - p is concave in q, and its maximum over an interval is found by a golden
section search, which ends after GOLDEN_SECTIONS steps.

References: Hoeffding 1963; Weissman et al. 2003; Krichevsky & Trofimov 1981; Ville 1939.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import gammaln

from bisimetric._support.frozen import changed
from bisimetric.errors import InvalidOption
from bisimetric.models.estimated import EstimatedChain
from bisimetric.models.radii import LARGEST_ROW_ERROR
from bisimetric.models.rows import Floats, Ints

GOLDEN_SECTIONS = 24  # of an interval, each by the golden ratio
NEWTON_STEPS = 8
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
SEARCHED_TO = 1.0 + 1e-6  # factor that covers what the search leaves
TINIEST = 1e-300  # a positive number below every probability that matters


def within_confidence(
    chain: EstimatedChain, failure: float, successors: npt.ArrayLike | None = None, growth: float = 1.0
) -> EstimatedChain:
    """The chain with `row_error` and `start_error` from its counts.

    Each of them is wrong with probability at most `failure`. `successors` is how many states could follow each state,
    all by default. With a `growth` the errors are those of as many times the counts.
    """
    n = chain.n_states
    could_follow = _checked_successors(successors, n)
    rows, matrix = chain.counts, chain.transitions
    errors = radii(rows, could_follow, failure, growth)
    seen = ~chain.unseen
    share = sparse.csr_array(sparse.diags_array(np.where(seen, 1.0 / np.maximum(chain.visits, 1), 0.0)) @ rows)
    filled = np.asarray(abs(matrix - share).sum(axis=1)).ravel()  # by smoothing, and by rounding
    errors[chain.ends] = filled[chain.ends] = 0.0  # absorbing by definition
    start_error = 0.0
    if chain.start is not None:
        starts = sparse.csr_array(chain.start_counts[None, :])
        start_error = float(radii(starts, np.array([n]), failure, growth)[0])
    return changed(chain, row_error=np.minimum(errors + filled, LARGEST_ROW_ERROR), start_error=start_error)


def radii(counts: sparse.csr_array, successors: Ints, failure: float, growth: float = 1.0) -> Floats:
    """[rows], 1-norms between shares of counts and true laws, each exceeded with probability at most `failure`."""
    total = growth * np.asarray(counts.sum(axis=1), np.float64).ravel()
    seen = np.diff(counts.indptr)
    could_follow = np.maximum(successors, seen)
    found = np.where(could_follow > 1, LARGEST_ROW_ERROR, 0.0)
    left = np.flatnonzero(total > 0)
    if not len(left):
        return found
    N, S, k = total[left], could_follow[left], seen[left]
    begins = counts.indptr[left]  # rows without counts have no entries
    least, largest = (np.asarray(f.reduceat(counts.data, begins)) * growth / N for f in (np.minimum, np.maximum))
    paid = np.log(2.0 * np.sqrt(N)) + np.log(np.maximum(S - 1, 1) / failure)
    some = np.minimum(np.maximum(k - 1, 1), S // 2)  # the size, below k, for which there are most sets
    all_seen = -np.expm1(-(paid + _log_choose(S, np.minimum(k, S - 1))) / N)  # q = 1: kl = -ln p
    apart = np.zeros(len(N))
    many = k > 1
    if many.any():
        allowed = (paid + _log_choose(S, some)) / N
        apart[many] = _largest_difference(*(part[many] for part in (least, largest, allowed)))
    everywhere = np.where(k < S, all_seen, 0.0)  # if all states were seen, B is never all of them
    found[left] = np.minimum(2.0 * np.maximum(everywhere, apart), LARGEST_ROW_ERROR)
    return found


def _log_choose(S: Ints, b: Ints) -> Floats:
    chosen: Floats = gammaln(S + 1.0) - gammaln(b + 1.0) - gammaln(S - b + 1.0)
    return chosen


def _largest_difference(least: Floats, largest: Floats, divergence: Floats) -> Floats:
    """max q - p with kl(q‖p) at most `divergence`, p ≤ q, and q the share of some states but not of all.

    `least` and `largest` are the smallest and the largest share of one state. With the latter among them q is at least
    `largest`, otherwise at most 1 - `largest`.
    """
    low, high = least.copy(), 1.0 - least
    for _ in range(GOLDEN_SECTIONS):
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        rising = outer - _smallest(outer, divergence) > inner - _smallest(inner, divergence)
        low, high = np.where(rising, inner, low), np.where(rising, high, outer)
    best = 0.5 * (low + high)
    between = (best > 1.0 - largest) & (best < largest)
    places = np.where(between, 1.0 - largest, best), np.where(between, largest, best), least, 1.0 - least
    differences = [q - _smallest(q, divergence) for q in places]
    return np.asarray(np.maximum.reduce(differences) * SEARCHED_TO)


def _smallest(q: Floats, divergence: Floats) -> Floats:
    """The smallest p with kl(q‖p) ≤ `divergence`, from below, for 0 < q < 1.

    In t = ln p the divergence is convex and falling, so Newton's method never gets past the solution from the left.
    """
    known = q * np.log(q) + (1.0 - q) * np.log1p(-q)
    t = np.maximum((known - divergence) / q, np.log(np.maximum(q - np.sqrt(0.5 * divergence), TINIEST)))
    for _ in range(NEWTON_STEPS):
        p = np.exp(t)
        excess = known - q * t - (1.0 - q) * np.log1p(-p) - divergence
        t = t + np.maximum(excess, 0.0) / (q - (1.0 - q) * p / (1.0 - p))
    return np.exp(t)


def _checked_successors(successors: npt.ArrayLike | None, n: int) -> Ints:
    given = n if successors is None else successors
    array = np.asarray(given)
    if array.dtype.kind not in "iu" or array.ndim > 1 or (array.ndim == 1 and len(array) != n):
        raise InvalidOption(f"successors is {given!r}, expected a whole number or one per state: {n}")
    if array.min() < 1 or array.max() > n:
        raise InvalidOption(f"successors goes from {array.min()} to {array.max()}, expected from 1 to {n} states")
    return np.broadcast_to(array.astype(np.int64), (n,)).copy()
