"""Models in notebooks: what they are, and their first states with where those lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bisimetric._support.text import printable
from bisimetric.models.chain import MarkovChain, label_text
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.policies import OptimalPolicy
from bisimetric.models.rows import Floats, Ints
from bisimetric.views.notebook.markup import Facts, HtmlBlock, Listing, Matrix, Note, Title

SHOWN_STATES = 10  # rows of a table of states
MOST_SUCCESSORS = 4  # of a state, those with the largest probabilities
SHOWN_ACTIONS = 12  # rows of a table of states and actions
LARGEST_PICTURE = 200  # states up to which the matrix of a chain is shown


def chain_blocks(chain: MarkovChain) -> Iterator[HtmlBlock]:
    """Facts, the first states, and the matrix as a thumbnail."""
    yield Title(type(chain).__name__)
    facts = [("states", str(chain.n_states)), ("transitions", str(chain.transitions.nnz)), *_start(chain)]
    if chain.reward is not None:
        facts.append(("reward", _range(chain.reward)))
    yield Facts([*facts, *_labels(chain)])
    rewards = None if chain.reward is None else chain.reward
    head = ["state", *_heads(chain), *([] if rewards is None else ["reward"]), "goes to"]
    rows = [
        [
            *_state(chain, x),
            *([] if rewards is None else [f"{rewards[x]:.6g}"]),
            _successors(chain, chain.successors(x), _row_data(chain, x)),
        ]
        for x in range(min(chain.n_states, SHOWN_STATES))
    ]
    yield Listing(head, rows)
    yield from _more(chain.n_states, len(rows), "states")
    if chain.n_states <= LARGEST_PICTURE:
        yield Matrix(chain.transitions.toarray(), chain.name_of, chain.name_of, "probabilities of transitions")


def mdp_blocks(mdp: MDP) -> Iterator[HtmlBlock]:
    """Facts, and the first states with their actions."""
    yield Title(type(mdp).__name__)
    names = ", ".join(printable(mdp.action_name(a)) for a in range(min(mdp.n_actions, SHOWN_STATES)))
    more = ", …" if mdp.n_actions > SHOWN_STATES else ""
    actions = f"{mdp.n_actions}: {names}{more}"
    rewards = mdp.rewards[mdp.available]
    facts = [("states", str(mdp.n_states)), ("actions", actions), *_start(mdp), ("reward", _range(rewards))]
    yield Facts([*facts, *_labels(mdp)])
    places = np.argwhere(mdp.available[:SHOWN_ACTIONS])[:SHOWN_ACTIONS]
    rows = []
    for s, a in places.tolist():
        matrix = mdp.transitions[a]
        span = slice(matrix.indptr[s], matrix.indptr[s + 1])
        leads = _successors(mdp, matrix.indices[span], matrix.data[span])
        rows.append([*_state(mdp, s), printable(mdp.action_name(a)), f"{mdp.rewards[s, a]:.6g}", leads])
    yield Listing(["state", *_heads(mdp), "action", "reward", "goes to"], rows)
    yield from _more(int(mdp.available.sum()), len(rows), "pairs of a state and an action")


def policy_blocks(best: OptimalPolicy) -> Iterator[HtmlBlock]:
    """The best actions of the first states."""
    yield Title("OptimalPolicy")
    yield Facts([("states", str(len(best.policy))), ("gap", f"{best.gap:.2g}")])
    rows = [
        (str(s), str(best.policy[s]), f"{best.value[s]:.6g}", f"{best.lower[s]:.6g}", f"{best.upper[s]:.6g}")
        for s in range(min(len(best.policy), SHOWN_STATES))
    ]
    yield Listing(("state", "action", "value", "lower", "upper"), rows)
    yield from _more(len(best.policy), len(rows), "states")


def _heads(model: Model) -> list[str]:
    return [] if model.labels is None else ["label"]


def _state(model: Model, x: int) -> list[str]:
    return [printable(model.name_of(x)), *([] if model.labels is None else [label_text(model.labels[x])])]


def _start(model: Model) -> list[tuple[str, str]]:
    if model.start is None:
        return []
    states = np.flatnonzero(model.start)
    if len(states) == 1:
        return [("start", printable(model.name_of(int(states[0]))))]
    return [("start", f"a distribution on {len(states)} states")]


def _labels(model: Model) -> list[tuple[str, str]]:
    if model.labels is None:
        return []
    different = list(dict.fromkeys(model.labels))
    shown = ", ".join(map(label_text, different[:MOST_SUCCESSORS]))
    return [("labels", f"{len(different)}: {shown}" + (", …" if len(different) > MOST_SUCCESSORS else ""))]


def _range(rewards: Floats) -> str:
    low, high = float(rewards.min()), float(rewards.max())
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"


def _row_data(chain: MarkovChain, x: int) -> Floats:
    rows = chain.transitions
    data: Floats = rows.data[rows.indptr[x] : rows.indptr[x + 1]]
    return data


def _successors(model: Model, states: Ints, probability: Floats) -> str:
    """The likeliest successors with their probabilities, in words."""
    order = np.lexsort((states, -probability))
    said = [f"{printable(model.name_of(int(states[k])))} {probability[k]:.4g}" for k in order[:MOST_SUCCESSORS]]
    return " · ".join(said) + (f" · … {len(states) - MOST_SUCCESSORS} more" if len(states) > MOST_SUCCESSORS else "")


def _more(count: int, shown: int, what: str) -> Iterator[Note]:
    if count > shown:
        yield Note(f"… and {count - shown} more {what}")


def names_of(model: Model, states: Sequence[int]) -> str:
    """The names of some states, of many the first."""
    said = ", ".join(printable(model.name_of(int(x))) for x in states[:MOST_SUCCESSORS])
    return said + (f", … {len(states) - MOST_SUCCESSORS} more" if len(states) > MOST_SUCCESSORS else "")
