"""Look for answers that are wrong: `python -m tests.campaign 200000 [--seed 0] [--kind cycle] [--jobs 2]`.

Small problems of the kinds that break such programs, each made from its own seed, and for each a selection of checks of
every public function that returns numbers, against closed forms and rational arithmetic. `kinds` has the chains,
`cases` the questions, `oracles` and `exact_games` the truth, `checks` the table of checks, `driver` the loop.
"""

from tests.campaign.driver import Report, examine, run

__all__ = ["Report", "examine", "run"]
