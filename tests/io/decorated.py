"""Models with labels, names and starts that files for model checkers can hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import bisimetric as bm

NAMES = ("a", "b", "goal", "deadlock", "two words", "x[1]", "é", "a=b", "3")
propositions = st.one_of(st.sets(st.sampled_from(NAMES), max_size=3), st.sampled_from(("", *NAMES)))
texts = st.text(max_size=6).filter(str.isprintable)
EXTRA = ("labels", "names", "start")


@st.composite
def decorated(draw, models):
    """A model with propositions, names and initial states, or without some of them."""
    model = draw(models)
    n = model.n_states
    kinds = draw(st.sets(st.sampled_from(EXTRA)))
    initial = sorted(draw(st.sets(st.integers(0, n - 1), min_size=1)))
    start = np.bincount(initial, minlength=n) / len(initial)
    pattern = draw(st.sampled_from(("s={},b=true", "({},0)", "state {}", "{}")))
    first = draw(texts)
    rest = {
        "labels": draw(st.lists(propositions, min_size=n, max_size=n)) if "labels" in kinds else None,
        "names": [first + pattern.format(k) for k in range(n)] if "names" in kinds else None,
        "start": start if "start" in kinds else None,
    }
    if isinstance(model, bm.MarkovChain):
        reward = draw(st.one_of(st.none(), st.lists(st.floats(-1e9, 1e9), min_size=n, max_size=n)))
        reward = None if reward is None else np.array(reward) + 0.0  # no negative zeros
        return bm.MarkovChain(model.transitions, reward=reward, **rest)
    names = draw(st.sampled_from((None, [f"act{k}" for k in range(model.n_actions)])))
    return bm.MDP(model.transitions, model.rewards + 0.0, available=model.available, actions=names, **rest)


def there_and_back(model, name):
    """The model after a trip through a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        bm.save(model, path)
        return (bm.as_chain if isinstance(model, bm.MarkovChain) else bm.as_mdp)(path)
