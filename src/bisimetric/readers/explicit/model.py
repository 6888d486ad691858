"""A model from a `.tra` file and what stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bisimetric._support.options import flag, one_of
from bisimetric.errors import InvalidChain
from bisimetric.io.files import usable_path
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.readers.explicit.rewards import read_rewards
from bisimetric.readers.explicit.tables import Source, read_source
from bisimetric.readers.explicit.transitions import actions_of, read_transitions
from bisimetric.readers.explicit.words import Labels, read_labels, read_names
from bisimetric.readers.model_checking import DEADLOCK_LABEL, DEADLOCKS, Deadlocks, mdp_of_choices, start_of
from bisimetric.readers.reader import Reader
from bisimetric.readers.specs import is_file_of, read_value, split_spec

TRANSITIONS_SUFFIX = ".tra"
PARTS = {  # endings of the files that belong to a .tra file, and what they hold
    "lab": "labels",
    "srew": "rewards of states",
    "sta": "values of variables",
    "trew": "rewards of transitions",
}


def from_explicit(
    tra: object,
    lab: object = None,
    srew: object = None,
    sta: object = None,
    trew: object = None,
    *,
    deadlocks: Deadlocks = "refuse",
    normalise: bool = False,
) -> MarkovChain | MDP:
    """Read an explicit model, in PRISM's form or in Storm's.

    Parameters
    ----------
    tra : str or Path
        The file of transitions. Its first line says whether it is a chain or a decision process.
    lab, srew, sta, trew : str or Path, optional
        Files of labels, rewards of states, names of states (values of variables) and rewards of transitions. By
        default those that have the name of `tra` with these endings, if there are any.
    deadlocks : "refuse" or "self-loops"
        What to do about states without transitions: refuse the file, or give them a self-loop and, if there are
        labels, the label "deadlock".
    normalise : bool
        Divide every row by its sum, for files with few digits. Of rates it makes the embedded chain.

    Returns
    -------
    MarkovChain or MDP
        `labels` are sets of propositions: sorted tuples of text. "init" is none of them: it makes the start, uniform
        if several states have it. The reward of a state (and action) is its own reward plus the expected reward of its
        transitions. Actions have the names that the file gives to choices, or numbers.

    Raises
    ------
    FileFormatError
        A file is missing, or something is wrong in it; the message names the file and the line.
    InvalidOption
        A path is no path, or another argument is not one of its values.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bisimetric as bm
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "coin.tra").write_text("2 3\\n0 0 0.5\\n0 1 0.5\\n1 1 1\\n")
    >>> _ = (folder / "coin.lab").write_text('0="init" 1="deadlock" 2="heads"\\n0: 0\\n1: 2\\n')
    >>> chain = bm.from_explicit(folder / "coin.tra")
    >>> chain
    MarkovChain(2 states, 3 transitions, start, labels)
    >>> chain.labels
    ((), ('heads',))
    """
    one_of(deadlocks, "deadlocks", DEADLOCKS)
    rescale = flag(normalise, "normalise")
    path = usable_path(tra, "tra")
    given = {"lab": lab, "srew": srew, "sta": sta, "trew": trew}
    source = read_source(path, "transitions of a model")
    is_process, parts = read_transitions(source, deadlocks, rescale)
    beside = {kind: found for kind in PARTS if (found := _beside(path, kind, given[kind])) is not None}
    reward = read_rewards(beside, parts, is_process)
    labels = read_labels(beside["lab"], parts.n_states) if "lab" in beside else Labels([], None)
    if labels.sets is not None:
        for state in parts.stuck.tolist():
            labels.sets[state].add(DEADLOCK_LABEL)
    common: dict[str, Any] = {
        "start": start_of(labels.initial, parts.n_states),
        "names": read_names(beside["sta"], parts.n_states) if "sta" in beside else None,
        "labels": labels.sets,
    }
    try:
        if not is_process:
            return MarkovChain(parts.rows, reward=reward, **common)
        columns, actions = actions_of(parts)
        paid = np.zeros(len(parts.owner)) if reward is None else reward
        return mdp_of_choices(parts.rows, parts.owner, columns, paid, actions=actions, **common)
    except InvalidChain as error:
        raise source.problem(str(error)) from None


def _beside(tra: Path, kind: str, given: object) -> Source | None:
    """The file that was given, or the one beside the transitions if there is one."""
    if given is not None:
        return read_source(usable_path(given, kind), PARTS[kind])
    path = tra.with_suffix(f".{kind}")
    return read_source(path, PARTS[kind]) if path != tra and path.is_file() else None


def _read(text: str) -> MarkovChain | MDP:
    spec = split_spec(text)
    spec.check_options((*PARTS, "deadlocks", "normalise"))
    options: dict[str, Any] = dict(spec.options)
    if "normalise" in options:
        options["normalise"] = read_value(options["normalise"])
    return from_explicit(spec.head, **options)


READER = Reader(f"an explicit model ({TRANSITIONS_SUFFIX})", lambda obj: is_file_of(obj, (TRANSITIONS_SUFFIX,)), _read)
