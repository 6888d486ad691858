"""Gymnasium environments that have a transition table, such as those of toy text.

The table of the innermost environment is read. Time limits are not part of it: they end an episode, but not because of
the state. Wrappers that may change rewards, observations or moves are refused.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import changed
from bisimetric._support.options import check_kind, hint, shown
from bisimetric.errors import InvalidChain, InvalidOption, MissingExtra
from bisimetric.models.chain import MarkovChain, checked_start
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats, as_array, float_array
from bisimetric.readers.gym_names import TERMINAL, action_names, state_labels, state_names
from bisimetric.readers.gym_table import read_gym_table
from bisimetric.readers.reader import Reader, is_from
from bisimetric.readers.specs import has_prefix, split_spec

if TYPE_CHECKING:
    from gymnasium import Env

PREFIX = "gym"
STARTS = ("initial_state_distrib", "isd")  # attributes that hold the law of the first state
# Wrappers that leave states, moves and rewards alone.
HARMLESS = {
    "TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics", "RecordVideo", "HumanRendering",
    "RenderCollection",
}  # fmt: skip
NOT_OPTIONS = {"self", "render_mode"}  # arguments of an environment that do not change its model

POLICIES = ("uniform", "optimal")  # policies by name

Policy = npt.ArrayLike | Literal["uniform", "optimal"]


@overload
def from_gymnasium(
    env: str | Env[Any, Any],
    *,
    policy: None = None,
    discount: float | None = None,
    options: Mapping[str, object] | None = None,
    start: object = None,
) -> MDP: ...


@overload
def from_gymnasium(
    env: str | Env[Any, Any],
    *,
    policy: Policy,
    discount: float | None = None,
    options: Mapping[str, object] | None = None,
    start: object = None,
) -> MarkovChain: ...


def from_gymnasium(
    env: str | Env[Any, Any],
    *,
    policy: Policy | None = None,
    discount: float | None = None,
    options: Mapping[str, object] | None = None,
    start: object = None,
) -> MDP | MarkovChain:
    """Make a decision process of a Gymnasium environment with a transition table, or a chain of it under a policy.

    A transition that is flagged as terminated leads to an absorbing state without rewards: its successor, or an added
    state "terminal" where episodes also start in that successor or pass through it. State k is observation k.

    Parameters
    ----------
    env : str or gymnasium.Env
        The id of an environment, such as "FrozenLake-v1", also with options as in "FrozenLake-v1,is_slippery=false"; or
        an environment. Any that has a table `env.unwrapped.P[state][action]` of
        `(probability, successor, reward, terminated)` will do. Time limits are not part of the model.
    policy : [n, A] array, n action indices, "uniform" or "optimal", optional
        Makes a chain. An added state "terminal" may be left out. "optimal" is a best policy for `discount`.
    discount : float, optional
        For `policy="optimal"`.
    options : mapping, optional
        Arguments for the environment, such as `{"map_name": "8x8"}`; only with an id.
    start : int, str or [n] array, optional
        Where episodes start; by default as the environment says.

    Returns
    -------
    MDP or MarkovChain
        Names are cells "(row,column)" of a map, or the taxi's fields; labels are "hole", "goal", "cliff", "terminal".

    Raises
    ------
    InvalidChain
        The environment has no table, or there is an error in it.
    InvalidOption
        There is no such environment or option, or a wrapper may change rewards or moves.
    MissingExtra
        Gymnasium is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.from_gymnasium("FrozenLake-v1", options={"is_slippery": False})
    MDP(16 states, 4 actions, 64 transitions, start, names, labels)
    >>> walk = bm.from_gymnasium("FrozenLake-v1", policy="uniform")
    >>> bm.distance(walk, "gym:FrozenLake-v1,policy=optimal,discount=0.95", discount=0.95).distance > 0.1
    True
    """
    if isinstance(env, str):
        spec = split_spec(env.removeprefix(f"{PREFIX}:"))
        given = {} if options is None else options
        check_kind(given, "options", Mapping, "a mapping from names to values, as {'map_name': '8x8'}")
        made = _make(spec.head, {**spec.values(), **given})
        try:
            mdp = _read(made, start)
        finally:
            made.close()
        title: Any = ",".join([env, *(f"{key}={value}" for key, value in given.items())])
    else:
        if not any(hasattr(env, name) for name in ("P", "step", "unwrapped")):
            raise InvalidOption(f"env is a {type(env).__name__}, expected an environment, or its id as text")
        if options is not None:
            raise InvalidOption("options are for environments given by id; this one is made already, leave them out")
        mdp = _read(env, start)
        title = getattr(getattr(env, "spec", None), "id", None)
    mdp = changed(mdp, title=title if isinstance(title, str) else None)
    return mdp if policy is None and discount is None else _under(mdp, policy, discount)


def _under(mdp: MDP, policy: Policy | None, discount: float | None) -> MarkovChain:
    optimal = isinstance(policy, str) and policy == "optimal"
    if optimal != (discount is not None):
        problem = "needs a discount, as discount=0.99" if optimal else "has no use for a discount; leave it out"
        raise InvalidOption(f"policy {policy!r} {problem}")
    if optimal and discount is not None:
        return mdp.under(mdp.optimal_policy(discount).policy)
    if isinstance(policy, str):
        if policy != "uniform":
            raise InvalidOption(
                f"policy is {policy!r}, expected 'uniform', 'optimal' or an array{hint(policy, POLICIES)}"
            )
        return mdp.under("uniform")
    given = as_array(policy, "policy", InvalidOption, f"{mdp.n_states} action indices or rows of probabilities")
    if given.ndim in (1, 2) and len(given) == mdp.n_states - 1 and mdp.names is not None and mdp.names[-1] == TERMINAL:
        given = np.concatenate([given, given[-1:]])  # what is done in the added state does not matter
    return mdp.under(given)


def _make(name: str, options: Mapping[str, object]) -> Any:
    """The environment that Gymnasium makes; its errors become ours."""
    try:
        import gymnasium
        from gymnasium.envs.registration import load_env_creator
    except ImportError:
        raise MissingExtra(f"{name!r} needs Gymnasium, which is missing: pip install 'bisimetric[gym]'") from None
    try:
        if name in gymnasium.registry:
            entry = gymnasium.registry[name].entry_point
            creator = load_env_creator(entry) if isinstance(entry, str) else entry
            _check_options(name, creator, options)
            _check_map(name, creator, options)
        with np.errstate(all="ignore"), warnings.catch_warnings():  # of maps without a start, and of old versions:
            warnings.simplefilter("ignore", DeprecationWarning)  # there are errors for both
            return gymnasium.make(name, disable_env_checker=True, **options)  # type: ignore[arg-type]
    except InvalidOption:
        raise
    except Exception as error:  # environments raise anything
        text = f"gymnasium cannot make {name!r}"
        given = f" with {', '.join(f'{key}={value!r}' for key, value in options.items())}" if options else ""
        raise InvalidOption(f"{text}{given}: {type(error).__name__}: {error}") from None


def _check_map(name: str, creator: Any, options: Mapping[str, object]) -> None:
    """Raise if a map is not one that the environment knows, or no list of equally long rows."""
    known = getattr(inspect.getmodule(creator), "MAPS", None)
    chosen, drawn = options.get("map_name"), options.get("desc")
    if chosen is not None and drawn is None and isinstance(known, Mapping) and str(chosen) not in known:
        expected = ", ".join(map(str, known))
        raise InvalidOption(
            f"map_name is {shown(chosen)} for {name!r}, expected one of {expected}{hint(str(chosen), known)}; "
            "desc=[...] draws a map"
        )
    if drawn is None:
        return
    rows = list(drawn) if isinstance(drawn, (list, tuple, np.ndarray)) else []
    if not rows or not all(hasattr(row, "__len__") and 0 < len(row) == len(rows[0]) for row in rows):
        raise InvalidOption(
            f"desc is {shown(drawn)} for {name!r}, expected rows of a map that are equally long, as in "
            'desc=["SFFF","FHFH","FFFH","HFFG"]: S start, F frozen, H hole, G goal'
        )


def _check_options(name: str, creator: Any, options: Mapping[str, object]) -> None:
    """Raise if the environment does not take one of the options."""
    parameters = inspect.signature(creator).parameters.values() if callable(creator) else ()
    known = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    known = [key for key in known if key not in NOT_OPTIONS]
    for key in options:
        if key not in known:
            expected = f"expected one of {', '.join(known)}" if known else "expected none"
            raise InvalidOption(f"{name} has no option {key!r}, {expected}{hint(key, known)}")


def _read(env: object, start: object) -> MDP:
    """The decision process of an environment's table."""
    inner: Any = getattr(env, "unwrapped", env)
    kind = type(inner).__name__
    for wrapper in _wrappers(env, inner):
        if _may_change(wrapper):
            raise InvalidOption(
                f"the wrapper {type(wrapper).__name__} may change rewards, observations or moves of {kind}, which its "
                "table does not show; give env.unwrapped to read the table below the wrapper"
            )
    table = getattr(inner, "P", None)
    if table is None:
        raise InvalidChain(
            f"{kind} has no transition table (env.unwrapped.P), so its model is not known: it draws its moves inside "
            "of step(). FrozenLake, CliffWalking and Taxi have one; MDP(transitions, rewards) takes other matrices"
        )
    if getattr(inner, "fickle_passenger", False):
        raise InvalidChain(f"{kind} with fickle_passenger changes destinations outside of its table; leave that out")
    n_states = len(table) if hasattr(table, "__len__") else 0
    names = state_names(inner, n_states)
    law = _start(inner, n_states) if start is None else checked_start(start, n_states, names)
    found = read_gym_table(table, law)
    if found.added:
        names = [*(names if names is not None else map(str, range(n_states))), TERMINAL]
    return MDP(
        found.transitions,
        found.rewards,
        start=np.append(law, 0.0) if law is not None and found.added else law,
        names=names,
        actions=action_names(inner, len(found.transitions)),
        available=found.available,
        labels=state_labels(inner, n_states, found.ends),
    )


def _start(env: object, n_states: int) -> Floats | None:
    """The law of the first state, if the environment has one."""
    name = next((name for name in STARTS if getattr(env, name, None) is not None), None)
    if name is None:
        return None
    law = float_array(getattr(env, name), name, InvalidChain, ndim=1)
    if len(law) != n_states:
        raise InvalidChain(f"{name} has {len(law)} entries, expected one per state: {n_states}")
    if not np.isfinite(law).all():
        raise InvalidChain(f"{name} of {type(env).__name__} is not a law; a map needs an 'S', or give start=")
    return law


def _wrappers(env: object, inner: object) -> Iterator[object]:
    """The layers around the innermost environment, from outside."""
    while env is not inner and env is not None:
        yield env
        env = getattr(env, "env", None)


def _may_change(wrapper: object) -> bool:
    """Whether a wrapper has its own step or reset, and is not known to leave the model alone."""
    kind = type(wrapper)
    if kind.__name__ in HARMLESS and kind.__module__.startswith("gymnasium."):
        return False
    base = next((one for one in kind.__mro__ if one.__name__ == "Wrapper" and one.__module__ == "gymnasium.core"), None)
    return base is None or kind.step is not base.step or kind.reset is not base.reset  # type: ignore[attr-defined]


def _from_text(text: str) -> MDP | MarkovChain:
    """`gym:ID`, with options of the environment, and `policy=` and `discount=`."""
    spec = split_spec(text)
    options = spec.values()
    policy, discount = options.pop("policy", None), options.pop("discount", None)
    if not spec.argument:
        raise InvalidOption(f"{text!r} names no environment, expected one as in gym:FrozenLake-v1")
    if policy is not None and policy not in POLICIES:
        raise InvalidOption(
            f"policy is {policy!r} in {text!r}, expected one of {', '.join(POLICIES)}{hint(policy, POLICIES)}"
        )
    if discount is not None and not isinstance(discount, (int, float)):
        raise InvalidOption(f"discount is {discount!r} in {text!r}, expected a number")
    return from_gymnasium(spec.argument, policy=policy, discount=discount, options=options)


def tabular_ids() -> list[str]:
    """The ids of Gymnasium's own environments that have a transition table; none if it is not installed."""
    try:
        from gymnasium.envs.registration import registry
    except ImportError:
        return []
    known = {id: str(entry.entry_point) for id, entry in registry.items()}
    return [id for id, entry in known.items() if "toy_text" in entry and "blackjack" not in entry]


def _matches(obj: object) -> bool:
    if isinstance(obj, str):
        return has_prefix(obj, PREFIX)
    tabular = hasattr(obj, "P") and (hasattr(obj, "observation_space") or hasattr(obj, "nS"))
    return is_from(obj, "gymnasium") or tabular


READER = Reader(
    "a Gymnasium environment, as gym:ID or an object",
    _matches,
    lambda obj: _from_text(obj) if isinstance(obj, str) else from_gymnasium(obj),
    walks=True,
)
