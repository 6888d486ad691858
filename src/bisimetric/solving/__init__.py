"""The one loop and the answers that it gives. Imports `solvers`, `certificates` and below.

`solve` is the door and the loop; `history` says how it went. `question` is what a kind of problem
provides, `kinds` the list of kinds: `chains` (with quotients, `lumping`), `bisimilarity`, `games` and `control`.
`solution`, `game_solution` and `action_coupling` are answers, `assignment` matches states by them; `optimal` finds
optimal policies, `exact` certifies in rational numbers.
"""
