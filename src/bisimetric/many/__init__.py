"""Many pairs of chains: worker processes, a store of finished pairs, tables of distances.

Imports `readers` and below. `pairwise` is the door.
"""
