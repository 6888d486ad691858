"""From an iterate to certified bounds, whoever proposed it. Imports `couplings` and below, never `solvers`.

`check` asks the checker, `interval` makes bounds of its word, `zeros` finds pairs at distance exactly zero; `game` and
`control` do it for decision processes, `starts` for initial laws, `robust` for all chains within row errors,
`certify` for anybody's guess.
"""
