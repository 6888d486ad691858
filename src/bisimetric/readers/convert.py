"""`as_chain` and `as_mdp`: the first reader that recognises the input makes a model of it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path

from bisimetric import environments
from bisimetric._support.frozen import changed
from bisimetric._support.options import hint
from bisimetric.errors import BisimetricError, FileFormatError, InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.readers import arrays, dicts, files, gym, hmm, matrices, names, networkx, storm, trajectories
from bisimetric.readers.explicit import model as explicit
from bisimetric.readers.reader import Reader
from bisimetric.readers.specs import split_spec

READERS: tuple[Reader, ...] = (
    files.READER,
    trajectories.READER,
    matrices.READER,
    explicit.READER,
    storm.READER,
    names.READER,
    gym.READER,
    networkx.READER,
    hmm.READER,
    dicts.READER,
    arrays.READER,
)


def as_chain(obj: object) -> MarkovChain:
    """Make a chain of anything that stands for one.

    Parameters
    ----------
    obj : object
        A `MarkovChain`, which is returned as it is, or

        - a transition matrix: an array, nested lists, a sparse matrix, or a DataFrame, whose labels become names;
        - a dict, as `MarkovChain.to_dict` returns it;
        - the path of a file: `.npz`, `.json`, `.csv`, `.npy`, `.tra`, `.prism`, `.pm`, `.nm`, `.jani`, `.drn`, with
          options behind commas, as `brp.prism,N=16`;
        - a log in a Parquet or CSV file, as `visits.parquet,sequence=session,step=time,state=page`;
        - the name of a built-in environment, as `four-rooms:p1`;
        - a Gymnasium environment with a transition table, or its id as `gym:FrozenLake-v1,is_slippery=false`, which is
          walked uniformly, or as `policy=optimal,discount=0.99` behind the id says;
        - a NetworkX graph, on which a simple random walk goes;
        - a fitted hidden Markov model, whose emissions become labels;
        - a model of stormpy.

        `from_gymnasium`, `from_networkx`, `from_hmm` and their like have options.

    Returns
    -------
    MarkovChain

    Raises
    ------
    InvalidChain
        The object stands for no chain, or for one with errors. An `MDP` is a chain only under a policy:
        `mdp.under(policy)`.
    InvalidOption
        A text is neither a file name nor the name of an environment.
    FileFormatError
        The file cannot be read.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.as_chain([[0.5, 0.5], [0, 1]])
    MarkovChain(2 states, 3 transitions)
    >>> bm.as_chain("four-rooms:p1").n_states
    40
    """
    model = _read(obj, "a chain", READERS, walk=True)
    if isinstance(model, MDP):
        raise InvalidChain("an MDP is a chain only under a policy; mdp.under(policy) makes one")
    return model


def as_mdp(obj: object) -> MDP:
    """Make a decision process of anything that stands for one.

    Parameters
    ----------
    obj : object
        An `MDP`, which is returned as it is; a `MarkovChain` with rewards, which becomes a process with one action; or
        what `as_chain` takes and has rewards: a dict, a file, a built-in environment, a Gymnasium environment or its id
        (`gym:FrozenLake-v1`), a graph with rewards (or with actions, as `to_networkx` makes it), a model of stormpy.

    Returns
    -------
    MDP

    Raises
    ------
    InvalidChain
        The object stands for no decision process; `MDP(transitions, rewards)` makes one of arrays.
    InvalidOption
        A text is neither a file name nor the name of an environment.
    FileFormatError
        The file cannot be read.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.as_mdp(bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1]))
    MDP(2 states, 1 actions, 3 transitions)
    """
    model = _read(
        obj,
        "a decision process",
        [reader for reader in READERS if reader.has_rewards],
        remedy="; MDP(transitions, rewards) makes one of arrays",
    )
    return _with_one_action(model) if isinstance(model, MarkovChain) else model


def as_model(obj: object, *, walk: bool = False) -> MarkovChain | MDP:
    """Make a chain or a decision process of anything; with `walk` a chain of what `as_chain` walks."""
    return _read(obj, "a model", READERS, walk=walk)


def _read(
    obj: object, what: str, readers: Sequence[Reader], *, remedy: str = "", walk: bool = False
) -> MarkovChain | MDP:
    """The model that the first fitting reader makes; errors say that `what` was expected.

    With `walk` decision processes of readers that walk are taken under the uniform policy.
    """
    if isinstance(obj, (MarkovChain, MDP)):
        return obj
    given = fspath(obj) if isinstance(obj, PathLike) else obj
    for reader in readers:
        if reader.matches(given):
            model = reader.read(given)
            walked = model.under("uniform") if walk and reader.walks and isinstance(model, MDP) else model
            return changed(walked, title=_title(obj, given) or walked.title)
    if isinstance(given, str):
        raise _wrong_text(given, what, [reader.accepts for reader in readers if reader.takes_text])
    *most, last = ("a MarkovChain or an MDP", *(reader.accepts for reader in readers))
    expected = f"expected {', '.join(most)} or {last}{remedy}"
    raise InvalidChain(f"cannot make {what} of a {type(given).__name__}, {expected}")


def _title(obj: object, given: object) -> str | None:
    """What pictures call a model: the text that stands for it, or the name of its file; None for other objects."""
    if isinstance(obj, PathLike):
        return Path(str(given)).name
    if not isinstance(given, str):
        return None
    try:
        return Path(given).name if Path(split_spec(given).head).is_file() else given
    except (BisimetricError, ValueError, OSError):  # nothing that a file could be called
        return given


def _wrong_text(text: str, what: str, accepted: Sequence[str]) -> BisimetricError:
    """The error about a text that no reader knows: a folder, a file of another ending, or no name."""
    *most, last = accepted
    expected = f"expected {', '.join(most)} or {last}"
    if not text.strip():
        return InvalidOption(f"the text that should stand for {what} is empty, {expected}")
    try:
        place = Path(split_spec(text).head)
        if place.is_dir():
            return FileFormatError(f"{text} is a folder, {expected}")
        if place.is_file():
            return FileFormatError(f"{text} has an ending that is not known, {expected}")
    except (BisimetricError, ValueError, OSError):  # nothing that a file could be called
        pass
    families = {gym.PREFIX, *(entry.pattern.partition(":")[0] for entry in environments.catalogue())}
    return InvalidOption(f"cannot make {what} of the text {text!r}, {expected}{hint(text.partition(':')[0], families)}")


def _with_one_action(chain: MarkovChain) -> MDP:
    if chain.reward is None:
        raise InvalidChain("the chain has no reward; a decision process needs one, give it reward=")
    if chain.start_error > 0.0:
        raise InvalidChain(
            "the chain has a start_error, which a decision process has not; give it chain.with_start(...)"
        )
    mdp = MDP([chain.transitions], chain.reward[:, None], start=chain.start, names=chain.names, labels=chain.labels)
    row_error = chain.row_error[:, None]  # relative to the rows given to the chain
    return changed(mdp, row_error=row_error, merged=chain.merged, title=chain.title)
