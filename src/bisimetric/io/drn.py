"""Models in Storm's explicit format DRN, which Storm and `bisimetric.from_drn` read.

Numbers are written so that they come back to the last bit, and labels are sets of propositions. The format has no names
of states; they stand in a comment behind the model, a list in JSON, which Storm skips.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.io.explicit import action_words, choices
from bisimetric.io.files import write_file
from bisimetric.io.propositions import INITIAL_LABEL, initial_states, proposition_sets
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # labels that need no quotes
NO_NAME = "__NOLABEL__"
REWARDS = "reward"  # the name of the reward structure
NAMES_COMMENT = "// names of states: "


def write_drn(model: MarkovChain | MDP, path: Path) -> None:
    """Write a model to `path`, which appears complete or not at all."""
    lines = list(_lines(model))

    def write(file: IO[bytes]) -> None:
        file.write("".join(f"{line}\n" for line in lines).encode())

    write_file(path, write)


def read_names(path: Path) -> list[str] | None:
    """The names of the states in the comment on the last line; None if there is none."""
    last = path.read_bytes().rstrip().rpartition(b"\n")[2]
    if not last.startswith(NAMES_COMMENT.encode()):
        return None
    try:
        names = json.loads(last[len(NAMES_COMMENT) :])
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FileFormatError(
            f"its last line begins with {NAMES_COMMENT!r}, expected a list of texts in JSON behind it"
        )
    return names


def _lines(model: MarkovChain | MDP) -> Iterator[str]:
    is_chain = isinstance(model, MarkovChain)
    has_rewards = model.reward is not None if isinstance(model, MarkovChain) else bool(model.rewards.any())
    n_choices = model.n_states if isinstance(model, MarkovChain) else int(model.available.sum())
    yield "// written by bisimetric"
    yield f"@type: {'DTMC' if is_chain else 'MDP'}"
    yield from ("@value_type: double", "@parameters", "", "@reward_models", REWARDS if has_rewards else "")
    yield from ("@nr_states", str(model.n_states), "@nr_choices", str(n_choices), "@model")
    sets, initial = proposition_sets(model), set(initial_states(model))
    heads = [
        [*([INITIAL_LABEL] if state in initial else []), *(_quoted(name) for name in (sets[state] if sets else ()))]
        for state in range(model.n_states)
    ]
    yield from _chain(model, heads) if isinstance(model, MarkovChain) else _process(model, heads, has_rewards)
    if model.names is not None:
        yield f"{NAMES_COMMENT}{json.dumps(model.names)}"


def _quoted(name: str) -> str:
    return name if PLAIN.fullmatch(name) else f'"{name}"'


def _chain(chain: MarkovChain, heads: list[list[str]]) -> Iterator[str]:
    rows = chain.transitions
    rewards = None if chain.reward is None else chain.reward.tolist()
    for state, labels in enumerate(heads):
        yield " ".join([f"state {state}", *([] if rewards is None else [f"[{rewards[state]!r}]"]), *labels])
        yield f"\taction {NO_NAME}"
        here = slice(rows.indptr[state], rows.indptr[state + 1])
        for to, p in zip(rows.indices[here].tolist(), rows.data[here].tolist(), strict=True):
            yield f"\t\t{to} : {p!r}"


def _process(mdp: MDP, heads: list[list[str]], has_rewards: bool) -> Iterator[str]:
    names = action_words(mdp)
    for name in names:
        if name == NO_NAME or name.startswith("["):
            raise InvalidOption(f"the action {name!r} has a meaning of its own in this format; rename it")
    for state, local, action, moves in choices(mdp):
        if local == 0:
            yield " ".join([f"state {state}", *(["[0]"] if has_rewards else []), *heads[state]])
        yield f"\taction {names[action]}" + (f" [{float(mdp.rewards[state, action])!r}]" if has_rewards else "")
        for to, p in moves:
            yield f"\t\t{to} : {p!r}"
