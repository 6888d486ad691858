"""Look for answers that are wrong: `python -m tests.campaign 200000 [--seed 0] [--kind cycle] [--jobs 2]`.

The campaign makes small problems of difficult kinds, each from its own seed. For each it runs a selection of checks of
every public function that returns numbers, against closed forms and rational arithmetic. `kinds` has the chains,
`cases` the questions, `oracles` and `exact_games` the truth, `checks` the table of checks, `driver` the loop.
"""

from tests.campaign.driver import Report, examine, run

__all__ = ["Report", "examine", "run"]
