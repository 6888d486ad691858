"""
Verification: a protocol against its specification
==================================================

A model checker answers one property at a time. A distance answers for all of them: by how much can *any* property
of the protocol differ from the specification? You need the extras ``storm`` and ``plot``.

The protocol is a PRISM model. A sender repeats a message until it is acknowledged, at most ``MAX`` times; 2 % of
the messages and 1 % of the acknowledgements get lost.
"""

from pathlib import Path

print(Path("lossy_channel.prism").read_text())

# %%
# Storm builds it; ``bm.from_prism`` makes a chain of what Storm built. Labels of states are the sets of
# propositions that hold there, and the names of states are the values of the variables.

import bisimetric as bm

protocol = bm.from_prism("lossy_channel.prism", constants="MAX=2")
print(protocol)
for name, label in list(zip(protocol.names, protocol.labels, strict=True))[:5]:
    print(name, label)

# %%
# The specification is what one would like to have: the message is received, then confirmed, and that is all.

specification = bm.MarkovChain(
    [[0, 1, 0], [0, 0, 1], [0, 0, 1]],
    labels=[set(), {"received"}, {"received", "confirmed"}],
    names=["sending", "received", "confirmed"],
    start="sending",
)

# %%
# The distance
# ------------
# ``bisimilarity_distance`` has no discount here. It bounds the difference in probability of *every* property of the
# labels, in whatever logic, between the two chains; and it comes with a proof of both of its ends.

strict = bm.bisimilarity_distance(protocol, specification)
print(f"every step counts:  {strict.distance:.6f}")

# %%
# About 0.03, the probability that the first message or its acknowledgement is lost: the specification takes two
# steps, and "confirmed after two steps" is a property as well. If the number of steps is not to matter, only the
# changes of label count.

solution = bm.bisimilarity_distance(bm.label_changes(protocol), bm.label_changes(specification))
low, high = solution.interval
print(f"label changes only: {solution.distance:.10f}, proved to be between {low:.10f} and {high:.10f}")
print(solution.explain())

# %%
# The sender gives up in both lines of the first table. In the first the receiver has the message nevertheless, so
# the two sides are left with different opinions; in the second the message never arrived. Nothing else contributes.
# The second table is the most likely way to get there.
#
# Storm agrees
# ------------
# Properties one would have thought of anyway. None differs by more than the distance, and the third attains it: a
# set of outcomes that the specification never shows.

import stormpy


def probability(formula):
    """What Storm finds for the protocol from its initial state."""
    program, _ = stormpy.instantiate_constants(stormpy.parse_prism_program("lossy_channel.prism"), "MAX=2")
    model = stormpy.build_model(program)
    return stormpy.model_checking(model, stormpy.parse_property(formula)).get_value(model.initial_states[0])


for formula, wanted in (('P=? [F "received"]', 1), ('P=? [F "received" & "abandoned"]', 0), ('P=? [F "abandoned"]', 0)):
    found = probability(formula)
    print(f"{formula:32} protocol {found:.10f}, specification {wanted}, difference {abs(found - wanted):.10f}")
    assert abs(found - wanted) <= high

# %%
# How many repetitions are enough?
# --------------------------------
# Say no property may differ by more than a millionth. The certified upper end decides, so the answer is a proof.

limits = {}
for most in range(6):
    model = bm.label_changes(bm.from_prism("lossy_channel.prism", constants={"MAX": most}))
    low, high = bm.bisimilarity_distance(model, bm.label_changes(specification)).interval
    limits[most] = high
    print(f"MAX={most}: {model.n_states:2} states, at most {high:.3e}", "enough" if high <= 1e-6 else "")

# %%
# Each repetition divides the distance by about 33. Drawn on a logarithmic scale, that is a straight line:

curve = bm.plot.curves(
    {"protocol against specification": (list(limits), list(limits.values()))},
    xlabel="repetitions allowed (MAX)",
    ylabel="largest difference in probability",
    log=(False, True),
)

# %%
# The same in a build, with a file that ``specification.save("specification.json")`` writes: exit code 0 within the
# limit, 1 above it, 3 if the interval contains the limit. ::
#
#     bisimetric distance lossy_channel.prism,MAX=3 specification.json --bisimilarity --label-changes --fail-above 1e-6
#
# With a discount, ``bisimilarity_distance(..., discount=0.9)`` weighs what happens after h steps with 0.9^h. What
# the distance does *not* say: which property attains it (``explain`` names the states instead), and anything about
# time beyond steps.
#
# Next: :doc:`/verification` on PRISM, JANI and DRN files, decision processes, and quotients as in Storm.
