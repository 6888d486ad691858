"""
Graphs: two molecules aligned
=============================

Which node of one graph corresponds to which node of another, and where do the two differ? A random walk makes a
Markov chain of a graph, and the coupling of two walks is a soft alignment. You need the extras ``graph`` and
``plot``.

Caffeine, theobromine (cocoa) and theophylline (tea) are one ring system with methyl groups in different places.
Nodes are atoms without the hydrogens, weights are the orders of the bonds. Names of atoms are the usual numbers of
positions; the distance does not look at them, it sees elements only.
"""

import networkx as nx

import bisimetric as bm

RING = "N1-C2 C2-N3 N3-C4 C4=C5 C5-C6 C6-N1 C5-N7 N7-C8 C8=N9 N9-C4 C2=O2 C6=O6"


def molecule(*methylated):
    """A xanthine with methyl groups (Me) at some nitrogen atoms."""
    graph = nx.Graph()
    for bond in [*RING.split(), *(f"{atom}-Me{atom[1]}" for atom in methylated)]:
        order = 2 if "=" in bond else 1
        graph.add_edge(*bond.replace("=", "-").split("-"), weight=order)
    nx.set_node_attributes(graph, {atom: "C" if atom[0] == "M" else atom[0] for atom in graph}, "label")
    return graph


molecules = {
    "caffeine": molecule("N1", "N3", "N7"),
    "theobromine": molecule("N3", "N7"),
    "theophylline": molecule("N1", "N3"),
    "xanthine": molecule(),
}

# %%
# ``from_networkx`` makes the walk: from an atom to a neighbour, in proportion to the weight of the bond. Labels are
# read from the nodes, and the walk starts in its stationary law, so that no atom is singled out.

walks = {name: bm.from_networkx(graph, start="stationary") for name, graph in molecules.items()}
print(walks["caffeine"])

# %%
# Aligning two
# ------------
# The cost is 1 where the walks stand on different elements. ``normalised=True`` makes the distance a mean over the
# walk: the share of (discounted) time that the two walks spend on different elements although they walk together as
# well as they can.

solution = bm.distance(
    walks["caffeine"], walks["theobromine"], discount=0.9, cost=bm.cost.label_mismatch, normalised=True
)
print(f"the walks are on different elements {solution.distance:.2%} of the time")
print(solution.assignment(by="coupling"))

# %%
# All thirteen atoms are matched to those of the same number, and the one that is left over, Me1, is the methyl
# group by which the two molecules differ. ``by="coupling"`` matches atoms by the time that the coupled walks spend
# there together; ``by="distance"`` matches those whose surroundings are alike. The atoms next to the difference are
# the most distant ones:

alignment = solution.plot(names=("caffeine", "theobromine"))

# %%
# ``explain`` says where the walks differ. When the walk on caffeine visits Me1, the other one goes to a carbon
# instead, and from there the two are out of step: one is back at N1 while the other is at a neighbour of that
# carbon.

print(solution.explain(6))

# %%
# How far to look
# ---------------
# The discount says how many steps count. After h steps the weight is 0.9^h, so γ = 0.9 looks about ten bonds far,
# across the whole molecule; γ = 0.5 about two. A small γ compares neighbourhoods, a large one whole graphs.

for discount in (0.5, 0.9, 0.99):
    found = bm.distance(
        walks["caffeine"], walks["theobromine"], discount=discount, cost=bm.cost.label_mismatch, normalised=True
    )
    matched = found.assignment(by="coupling")
    here, there = matched.names
    right = sum(here[x] == there[y] for x, y in zip(matched.source, matched.target, strict=True))
    print(f"γ = {discount}: distance {found.distance:.4f}, {right} of 13 atoms in their places")

# %%
# All of them
# -----------
# ``pairwise`` compares every two. The distance is not the number of missing groups: theobromine and theophylline
# both lack one of caffeine's, and are at different distances, because a walk meets different surroundings there.

table = bm.pairwise(list(walks.values()), discount=0.9, cost=bm.cost.label_mismatch, normalised=True)
for name, row in zip(walks, table.value, strict=True):
    print(f"{name:13}", "  ".join(f"{value:.4f}" for value in row))

# %%
# Four points in the plane with about these distances (this needs the extra ``ml``):

plane = bm.plot.mds(table, names=list(walks))

# %%
# What to keep in mind: the alignment is as good as the cost. With elements alone, atoms of one element with like
# surroundings are told apart by structure only; symmetric graphs have several optimal alignments, of which one is
# shown. Features of nodes (``features=`` of ``from_networkx``, with ``bm.cost.features``) make it sharper.
#
# Next: :doc:`/models` for directed graphs, sinks and restarts; :doc:`/meaning` on normalised distances.
