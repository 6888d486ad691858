"""Bellman operators on arrays, which solvers call. Imports `problems`, `linear` and below.

`bellman` is the operator, `trees` the pairs that are solved and their transport trees, `evaluation` the values of
couplings with the preconditioner `modes`; `game` and `action_rules` are the operator between decision processes,
`control` that of one; `reachable` is what the starts lead to.
"""
