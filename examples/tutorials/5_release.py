"""
Logs before and after a release
===============================

A shop has a new version. Its log says which pages people visit: did behaviour change, is that more than chance, and
where? You need the extras ``data`` and ``plot``.

The logs here are simulated, so that we know the answer. A visit goes from page to page and may end anywhere. In the new
version a page with reviews is offered on every product page, and fewer people put the product into the cart at once.
"""

import numpy as np
import pandas as pd

import bisimetric as bm

OLD = {
    "home": {"search": 0.5, "product": 0.3, "help": 0.2},
    "search": {"product": 0.7, "home": 0.2, "search": 0.1},
    "product": {"cart": 0.3, "search": 0.5, "home": 0.2},
    "cart": {"paid": 0.6, "product": 0.3, "help": 0.1},
    "help": {"home": 0.6, "product": 0.4},
}
NEW = OLD | {
    "product": {"cart": 0.2, "search": 0.45, "home": 0.2, "reviews": 0.15},
    "reviews": {"product": 0.5, "cart": 0.5},
}


def visits(shop, count, seed):
    """A log: one row for every page of every visit."""
    random = np.random.default_rng(seed)
    rows = []
    for visit in range(count):
        page, time = "home", 0
        while True:
            rows.append((visit, time, page))
            if page not in shop or random.random() < 0.08:
                break
            page, time = str(random.choice(list(shop[page]), p=list(shop[page].values()))), time + 1
    return pd.DataFrame(rows, columns=["visit", "time", "page"])


monday, tuesday, released = visits(OLD, 1500, 1), visits(OLD, 1500, 2), visits(NEW, 1500, 3)
released.head()

# %%
# From a log to a chain
# ---------------------
# ``from_trajectories`` counts how often each page follows each other one. It takes frames of pandas, polars and others,
# and the paths of Parquet and CSV files, which it reads in batches. The result is a Markov chain that keeps its counts,
# and says what was decided about the data: here nobody leaves the page ``paid``, so it is absorbing.

columns = {"sequence": "visit", "step": "time", "state": "page"}
before, same, after = (bm.from_trajectories(log, **columns) for log in (monday, tuesday, released))
print(before)
print(*before.notes, sep="\n")

# %%
# A distance alone says little
# ----------------------------
# The distance between Monday and Tuesday is not zero, although nothing changed, and it comes with a certified interval
# of width 1e-9. That certificate is about the *computation*: the two estimated chains are that far apart. It says
# nothing about the shop.

nothing = bm.distance(before, same, discount=0.9, cost=bm.cost.label_mismatch)
print(f"{nothing.distance:.4f} in [{nothing.interval[0]:.10f}, {nothing.interval[1]:.10f}]")

# %%
# Is it noise?
# ------------
# ``compare`` asks what two samples of these sizes from *one* process would show: it shuffles all visits, splits them
# again, and again. If the distance between the logs is like those, there is no reason to speak of a change.

quiet = bm.compare(before, same, discount=0.9)
quiet

# %%
# The release is another matter. Without rewards, states are compared by name: every step in which one visitor is on
# another page than the other costs 1, later steps less.

release = bm.compare(before, after, discount=0.9)
release

# %%
picture = release.plot()

# %%
# What changed
# ------------
# All transitions are tested, each with an interval from its counts. There are many of them, so p-values are corrected
# (Holm): with 95 % confidence not one of those listed is due to chance. The ``effect`` says how much of the distance
# comes from a difference, to first order.

for change in release.changed.significant():
    low, high = change.interval
    print(f"{change.source:>8} → {change.target:<8} {change.shares[0]:6.1%} → {change.shares[1]:6.1%}  "
          f"[{low:+.3f}, {high:+.3f}]  effect {change.effect:+.3f}")  # fmt: skip

# %%
# Three statements, not to be mixed up
# ------------------------------------
# - ``release.solution.interval``: the computation, certified.
# - ``release.interval``: the bootstrap over whole visits, corrected for the bias that all such distances have. It is
#   about the processes, and about right if the distance is well away from what chance makes.
# - ``release.guarantee``: holds with 95 % whatever the processes are. It needs many more visits to say much.

print(f"computation  {release.solution.interval[0]:.6f} to {release.solution.interval[1]:.6f}")
print(f"bootstrap    {release.interval[0]:.3f} to {release.interval[1]:.3f}")
print(f"guarantee    {release.guarantee[0]:.3f} to {release.guarantee[1]:.3f}")

# %%
# More data
# ---------
# ``update`` adds visits without starting again. Looking every day until p is small finds changes that are none: if you
# plan k looks, ask for ``confidence=1 - 0.05 / k``.
#
# On the command line the same is
# ``bisimetric compare before.parquet after.parquet --by visit --state page --step time --report release.html``.
#
# For hidden Markov models, compare the state paths that a model finds in two sets of observations
# (``model.predict``). Use one model for both, or a cost between the states of the two. Everything then holds given that
# the paths are right: the doubt that the model leaves about them is not counted.

more = release.update(more_b=bm.from_trajectories(visits(NEW, 500, 4), **columns))
print(more.sentence)
