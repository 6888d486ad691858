"""
Reinforcement learning: a frozen lake, slippery or not
======================================================

Two versions of one environment: how different are they for an agent, which states behave alike, and how small can
the model be made before its best policy suffers? You need the extras ``gym`` and ``plot``.

In FrozenLake an agent walks over a 4 × 4 lake with four holes, and gets a reward of 1 when it steps on the goal. If
the lake is slippery, two thirds of the moves go sideways.
"""

import gymnasium as gym

import bisimetric as bm

discount = 0.95
wet = bm.from_gymnasium(gym.make("FrozenLake-v1", is_slippery=True))
dry = bm.from_gymnasium(gym.make("FrozenLake-v1", is_slippery=False))
wet

# %%
# Both are decision processes with a known transition table, and differ in nothing but their transitions. A policy
# makes a Markov chain of each; we take the best one. ``optimal_policy`` certifies it: no policy is better by more
# than ``gap``.

best_wet, best_dry = wet.optimal_policy(discount), dry.optimal_policy(discount)
print(f"value of the start: {best_wet.value[0]:.3f} wet, {best_dry.value[0]:.3f} dry; gap at most {best_wet.gap:.0e}")
policy = bm.plot.model(wet, policy=best_wet.policy, title="the best policy on slippery ice")

# %%
# On slippery ice the best policy heads away from holes, even into the border, and waits for a slip in the right
# direction.

# %%
# One number for the difference
# -----------------------------
# The distance lets the two agents walk at the same time, with as much in common as their dynamics allow, and adds
# up how much their rewards differ on the way: ``|r - r'|`` now, 0.95 times that of the next step, and so on.

solution = bm.distance(wet.under(best_wet.policy), dry.under(best_dry.policy), discount=discount)
low, high = solution.interval
print(f"distance {solution.distance:.6f}, proved to be between {low:.9f} and {high:.9f}")

# %%
# The number has a unit, that of the (discounted) reward, and it bounds something an agent cares about: whatever the
# state, the two values differ by no more than the distance. Here they differ by 0.593, and the distance is 0.950.
# It is larger because it also counts *when* a reward comes: if the wet agent gets there ten steps after the dry
# one, the values nearly cancel, while the distance counts a difference twice.

gap = best_dry.value[0] - best_wet.value[0]
print(f"difference of the values {gap:.3f} <= distance {solution.distance:.3f}")

# %%
# The picture shows both maps and, on the right, how far the start of the slippery lake is from every cell of the
# dry one. It is nearest to the holes: on the slippery lake most walks end without a reward. Stepping on the goal is
# paid in the cell before it, a third of the time on slippery ice.

lakes = solution.plot(names=("slippery", "dry"))

# %%
# Where does the distance come from? Pairs of cells in which the coupled agents are, and what each pair adds. The
# dry agent is at the cell before the goal, (3,2), at a time when the wet one is still near its start.

print(solution.explain(5))

# %%
# Which states behave alike?
# --------------------------
# The bisimulation metric compares states of *one* model, over all actions and not for one policy. It is normalised:
# with rewards between 0 and 1 no distance is above 1. States at distance 0 cannot be told apart by rewards,
# whatever one does.

metric = bm.bisimulation_metric(wet, discount=discount)
states = metric.plot()

# %%
# Cells of like colour behave alike, and points that are close are. The cell before the goal, (3,2), is unlike all
# others, and the two next to it come after it. In numbers:

for cell in ("(0,1)", "(0,3)", "(1,0)", "(1,1)", "(3,2)"):
    print(f"from the start to {cell}: {metric.value[0, wet.names.index(cell)]:.4f}")

# %%
# Exactly alike are the holes, and the goal *after* it was reached: nothing comes any more. ``bisimilar_classes``
# looks at the labels too, and tells the goal from a hole.

classes = bm.bisimilar_classes(wet)
print(classes.max() + 1, "classes:", dict(zip(wet.names, classes.tolist(), strict=True)))

# %%
# A smaller model, with a guarantee
# ---------------------------------
# ``aggregate`` merges states that are close, and says what that costs at most: every value of the small model is
# within ``value_bound`` of the original's, and the small model's best policy, used in the large one, loses at most
# ``policy_loss``.

for n_states in (12, 10, 8, 6):
    small = bm.aggregate(wet, n_states=n_states, discount=discount)
    print(f"{n_states:2} states: values within {small.value_bound:.3f}, policy loses at most {small.policy_loss:.3f}")

# %%
# Which states are merged, for ten:

merged = bm.plot.aggregation(bm.aggregate(wet, n_states=10, discount=discount))

# %%
# Twelve states are as good as sixteen. Ten are nearly as good for acting: the policy loses at most 0.014 of 0.180,
# though values in the small model may be off by more. Below that the guarantee says little about a reward of 0.18.
# A bound is not a prediction: the loss may be smaller, and is known only to be no larger.
#
# Next: :doc:`/meaning` on units and on choosing the discount; :doc:`/models` for your own environment.
