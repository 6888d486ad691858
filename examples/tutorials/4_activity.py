"""
Sequences: two hidden Markov models matched
===========================================

Two fitted models say little to each other: hidden states come in any order, and two sets of parameters are hard to
compare by eye. A distance matches the states, says how differently the two behave, and where that comes from. You
need hmmlearn and the extra ``plot``.

The data are made up, so that we know the truth: the speed of a person in km/h, minute by minute for a day, before
and after an injury. Resting, walking and running are as fast as before; the person rests longer, and runs less
often and more briefly.
"""

import numpy as np
from hmmlearn.hmm import GaussianHMM

import bisimetric as bm

MEAN, DEVIATION = np.array([0.3, 4.5, 9.5]), np.array([0.2, 0.7, 1.2])
BEFORE = np.array([[0.95, 0.05, 0.0], [0.06, 0.90, 0.04], [0.0, 0.10, 0.90]])
AFTER = np.array([[0.97, 0.03, 0.0], [0.12, 0.87, 0.01], [0.0, 0.30, 0.70]])


def day(steps, seed):
    """Speeds [1440, 1] of one day."""
    random, state, speeds = np.random.default_rng(seed), 0, []
    for _ in range(24 * 60):
        speeds.append(random.normal(MEAN[state], DEVIATION[state]))
        state = random.choice(3, p=steps[state])
    return np.array(speeds)[:, None]


# %%
# Fitting starts from random guesses and may end in a poor optimum, so we take the best of ten, as one should.


def fitted(speeds):
    """The most likely of ten models with three states."""
    models = [GaussianHMM(3, random_state=seed, n_iter=200, tol=1e-6).fit(speeds) for seed in range(10)]
    return max(models, key=lambda model: model.score(speeds))


before, after = fitted(day(BEFORE, seed=1)), fitted(day(AFTER, seed=2))
print("means before:", before.means_.ravel().round(2))
print("means after: ", after.means_.ravel().round(2))

# %%
# Which state is which?
# ---------------------
# ``from_hmm`` makes a chain of hidden states whose labels are the emissions; we add names that can be read. The
# cost between two states is the 2-Wasserstein distance of their Gaussians, here in km/h.


def named(model):
    """The chain of hidden states, called by their mean speeds."""
    chain = bm.from_hmm(model)
    names = [f"{speed:.1f} km/h" for speed in model.means_.ravel()]
    return bm.MarkovChain(chain.transitions, start=chain.start, labels=chain.labels, names=names)


solution = bm.distance(named(before), named(after), discount=0.99, cost=bm.cost.emissions, normalised=True)
print(solution.assignment())

# %%
# The states are matched as they should be, in whatever order the two fits have them.
#
# How different are the two days?
# -------------------------------
# γ = 0.99 looks about a hundred minutes ahead, and ``normalised=True`` makes the distance a mean: two people who
# behave like the two models, as much in step as possible, differ by this many km/h at a time.

picture = solution.plot(names=("before", "after"))
solution

# %%
# Where does it come from?

parts = bm.plot.explanation(solution.explain(5))

# %%
# From pairs of *different* states: one still walks where the other already rests, and one still runs where the
# other walks. Matched states add next to nothing, so the emissions agree and the transitions differ, which is how
# the data were made.
#
# Is that much?
# -------------
# Two days of one person are not at distance 0 either: they are two samples. A second day before the injury gives
# the yardstick.

again = fitted(day(BEFORE, seed=5))
same = bm.distance(named(before), named(again), discount=0.99, cost=bm.cost.emissions, normalised=True)
print(f"before and after: {solution.distance:.3f} km/h; two days before: {same.distance:.3f} km/h")

# %%
# One yardstick is not a test. The interval above is about the *fitted* models, and says nothing of how well they are
# known. :doc:`/is-it-noise` has tests for logs whose states are seen.
#
# Next: :doc:`/models` on emissions of other kinds and mixtures; :doc:`/meaning` on what the interval covers.
