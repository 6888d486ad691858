"""What notebooks show of models, questions and answers: small tables and thumbnails instead of a line of code.

`markup` turns blocks into HTML; the other files say which blocks an object has, by the name of its class. An object is
shown like the first of its classes that `NOTEBOOK_VIEWS` names, and what is not needed is not imported.
"""

from __future__ import annotations

from importlib import import_module

from bisimetric.views.notebook.markup import as_html

NOTEBOOK_VIEWS = {  # class: the function of this folder that yields its blocks
    "MarkovChain": "models.chain_blocks",
    "MDP": "models.mdp_blocks",
    "OptimalPolicy": "models.policy_blocks",
    "Problem": "questions.problem_blocks",
    "Game": "questions.game_blocks",
    "HorizonProblem": "questions.horizon_blocks",
    "Answer": "answers.answer_blocks",
    "Certificate": "answers.certificate_blocks",
    "Distances": "answers.table_blocks",
    "Aggregation": "answers.aggregation_blocks",
    "Derivatives": "answers.gradient_blocks",
    "Reduction": "answers.reduction_blocks",
    "Explanation": "explanations.explanation_blocks",
    "JointPath": "explanations.path_blocks",
    "Assignment": "explanations.assignment_blocks",
    "Coupling": "couplings.coupling_blocks",
    "ActionCoupling": "couplings.coupling_blocks",
    "HorizonCoupling": "couplings.coupling_blocks",
    "JointLaw": "couplings.law_blocks",
    "Potentials": "couplings.potential_blocks",
    "ActionPotentials": "couplings.potential_blocks",
    "HorizonPotentials": "couplings.potential_blocks",
    "LongRunPotentials": "couplings.potential_blocks",
}


def notebook_html(thing: object) -> str:
    """An object as HTML for notebooks, complete and inert: all text in it is escaped."""
    name = next(kind.__name__ for kind in type(thing).__mro__ if kind.__name__ in NOTEBOOK_VIEWS)
    module, _, function = NOTEBOOK_VIEWS[name].rpartition(".")
    return as_html(getattr(import_module(f"{__name__}.{module}"), function)(thing))
