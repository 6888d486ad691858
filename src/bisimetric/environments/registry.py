"""Environments by name, for the command line and for `as_chain`.

One grammar serves all:

    name   = family [":" argument] {"," option}          four-rooms:p1,door-cost
    option = key "=" value | flag                        random:20,kind=uniform,seed=1

Without an argument the first option follows the colon (`four-rooms:side=20`). Names come from outside and must not
cause unbounded allocations, so sizes have limits here that the functions themselves do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bisimetric._support.options import hint, whole
from bisimetric.environments.grids import grid_3x3, open_grid
from bisimetric.environments.obstacles import four_rooms_obstacles
from bisimetric.environments.random_chains import RowKind, random_chain, random_sparse_chain
from bisimetric.environments.rooms import (
    classic_four_rooms,
    four_rooms,
    matching_four_rooms,
    small_four_rooms,
)
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain

MAX_SIDE = 1_000  # largest side of a grid: at most a million states
MAX_DENSE_STATES = 5_000  # most states of a dense chain: at most 25 million transitions
MAX_SPARSE_STATES = 1_000_000
MAX_SPARSE_TRANSITIONS = 10_000_000
MAX_SUCCESSORS = 100
SUCCESSORS = 5  # successors of a state in a sparse chain, by default
LISTED = "`bisimetric environments` lists them"

ReadText = Callable[[str, str], object]  # (text, what it is) -> value


@dataclass(frozen=True, slots=True)
class Entry:
    """A pattern of names of built-in environments.

    Attributes
    ----------
    pattern : str
        What names look like, with options in brackets: "open-grid:K[,corner=CORNER]".
    description : str
        One line about the environment.
    example : str
        A name of this pattern, for `by_name` or the command line.
    """

    pattern: str
    description: str
    example: str


@dataclass(frozen=True, slots=True)
class Family:
    """What may follow the name of a family, and the function that builds the chain.

    The argument and the options are passed by keyword, with underscores for dashes.
    """

    build: Callable[..., MarkovChain]
    entries: tuple[Entry, ...]
    argument: tuple[str, ReadText] | None = None
    required: bool = False
    options: Mapping[str, ReadText] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def by_name(name: str) -> MarkovChain:
    """The built-in environment of this name.

    Parameters
    ----------
    name : str
        A name such as "four-rooms:p1,door-cost"; `catalogue` lists the patterns.

    Returns
    -------
    MarkovChain
        The chain.

    Raises
    ------
    InvalidOption
        If the name or an option in it is unknown or out of range.

    Examples
    --------
    >>> from bisimetric.environments import by_name
    >>> by_name("four-rooms:p1,door-cost").n_states
    40
    """
    head, items, has_colon = _split(name)
    family = FAMILIES.get(head)
    if family is None:
        raise InvalidOption(f"environment {head!r} is unknown; {LISTED}{hint(head, FAMILIES)}")
    values: dict[str, object] = {}
    for k, item in enumerate(items):
        key, value = _read(name, family, item, may_be_argument=k == 0 and has_colon)
        if key in values:
            raise InvalidOption(f"{key} is given twice in {name!r}, expected once")
        values[key] = value
    if family.required and family.argument and family.argument[0] not in values:
        raise InvalidOption(f"{name!r} lacks its argument, as in {family.entries[0].example!r}")
    return family.build(**{key.replace("-", "_"): value for key, value in values.items()})


def is_name(text: str) -> bool:
    """Whether a text means a built-in environment and not a file: it begins with the name of a family.

    Parameters
    ----------
    text : str
        A name or the path of a file.

    Returns
    -------
    bool
        True also if what follows the family is wrong; `by_name` then says what.

    Examples
    --------
    >>> from bisimetric.environments import is_name
    >>> is_name("open-grid:5"), is_name("mine.json")
    (True, False)
    """
    return _split(text)[0] in FAMILIES


def catalogue() -> list[Entry]:
    """Every pattern of names that `by_name` understands; `bisimetric environments` prints them.

    Returns
    -------
    list of Entry
        Pattern, description and example of each.

    Examples
    --------
    >>> from bisimetric.environments import catalogue
    >>> [entry.example for entry in catalogue()][:2]
    ['four-rooms:p1', 'four-rooms:side=20,goal=all']
    """
    return [entry for family in FAMILIES.values() for entry in family.entries]


def _split(name: str) -> tuple[str, list[str], bool]:
    """The family, the items after it, and whether a colon comes before them."""
    before_comma = name.partition(",")[0]
    mark = ":" if ":" in before_comma else ","
    head, found, rest = name.partition(mark)
    items = [item.strip() for item in rest.split(",")] if found else []
    return head.strip(), items, mark == ":"


def _read(name: str, family: Family, item: str, *, may_be_argument: bool) -> tuple[str, object]:
    """Key and value of one item after the family."""
    key, equals, text = (part.strip() for part in item.partition("="))
    options = (*family.options, *family.flags)
    if not equals and may_be_argument and key not in options:
        if family.argument is None:
            raise InvalidOption(
                f"{name!r} has the argument {key!r}, expected none; write {family.entries[0].example!r}"
            )
        argument, read = family.argument
        return argument, read(key, f"{argument} in {name!r}")
    if key not in options:
        known = f"expected one of {', '.join(options)}" if options else "expected none"
        raise InvalidOption(f"option {key!r} in {name!r} is unknown, {known}; {LISTED}{hint(key, options)}")
    if key in family.flags:
        if equals:
            raise InvalidOption(f"{key} in {name!r} has the value {text!r}, expected none; write {key!r} alone")
        return key, True
    if not equals:
        raise InvalidOption(f"{key} in {name!r} lacks a value; write {key}=...")
    return key, family.options[key](text, f"{key} in {name!r}")


def _word(text: str, what: str) -> str:
    if not text:
        raise InvalidOption(f"{what} is empty; {LISTED}")
    return text


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidOption(f"{what} is {text!r}, expected a number") from None


def _whole(at_least: int, at_most: int) -> ReadText:
    def read(text: str, what: str) -> int:
        try:
            number = int(text)
        except ValueError:
            return whole(text, what, at_least=at_least, at_most=at_most)  # which raises
        return whole(number, what, at_least=at_least, at_most=at_most)

    return read


def _four_rooms_obstacles(seed: int = 0) -> MarkovChain:
    return four_rooms_obstacles(seed=seed)


def _random(n: int, kind: RowKind = "softmax", seed: int = 0) -> MarkovChain:
    return random_chain(n, kind=kind, seed=seed)


def _random_sparse(n: int, successors: int | None = None, seed: int = 0) -> MarkovChain:
    if successors is None:
        successors = min(SUCCESSORS, n)
    if n * successors > MAX_SPARSE_TRANSITIONS:
        raise InvalidOption(
            f"{n} states with {successors} successors have {n * successors} transitions, expected at most "
            f"{MAX_SPARSE_TRANSITIONS}; ask for fewer, or call random_sparse_chain"
        )
    return random_sparse_chain(n, successors, seed=seed)


_seed = _whole(0, 2**63 - 1)

FAMILIES: Mapping[str, Family] = {
    "four-rooms": Family(
        four_rooms,
        (
            Entry(
                "four-rooms:p0 … p9[,door-cost][,shortest-path=W]",
                "Four 3×3 rooms, 40 states; −1 on doors; weight W of the shortest path to a goal",
                "four-rooms:p1",
            ),
            Entry(
                "four-rooms:side=L[,goal=CORNER][,door-cost][,shortest-path=W]",
                f"Four rooms of L² + 4 states, L ≤ {MAX_SIDE}; goal north-east, …, or all",
                "four-rooms:side=20,goal=all",
            ),
        ),
        argument=("instance", _word),
        options={"side": _whole(2, MAX_SIDE), "goal": _word, "shortest-path": _number},
        flags=("door-cost",),
    ),
    "four-rooms-obstacles": Family(
        _four_rooms_obstacles,
        (
            Entry(
                "four-rooms-obstacles[:seed=SEED]",
                "Four rooms with random obstacles and start, 33 to 39 states, walked by their optimal policy",
                "four-rooms-obstacles:seed=3",
            ),
        ),
        options={"seed": _seed},
    ),
    "small-four-rooms": Family(
        small_four_rooms,
        (Entry("small-four-rooms:a|b", "Four 2×2 rooms, 20 states", "small-four-rooms:a"),),
        argument=("instance", _word),
        required=True,
    ),
    "matching-four-rooms": Family(
        matching_four_rooms,
        (
            Entry(
                "matching-four-rooms",
                "Four rooms, each the 3×3 grid turned, 40 states",
                "matching-four-rooms",
            ),
        ),
    ),
    "classic-four-rooms": Family(
        classic_four_rooms,
        (Entry("classic-four-rooms", "Four rooms of Sutton, Precup & Singh, 104 states", "classic-four-rooms"),),
    ),
    "grid-3x3": Family(grid_3x3, (Entry("grid-3x3", "3×3 grid, uniform over the neighbours, 9 states", "grid-3x3"),)),
    "open-grid": Family(
        open_grid,
        (
            Entry(
                "open-grid:K[,corner=CORNER]",
                f"K×K square without walls, +1 in one corner, K ≤ {MAX_SIDE}",
                "open-grid:5",
            ),
        ),
        argument=("k", _whole(1, MAX_SIDE)),
        required=True,
        options={"corner": _word},
    ),
    "random": Family(
        _random,
        (
            Entry(
                "random:N[,kind=softmax|uniform][,seed=SEED]",
                f"N states with dense random rows, N ≤ {MAX_DENSE_STATES}",
                "random:20,kind=uniform,seed=1",
            ),
        ),
        argument=("n", _whole(1, MAX_DENSE_STATES)),
        required=True,
        options={"kind": _word, "seed": _seed},
    ),
    "random-sparse": Family(
        _random_sparse,
        (
            Entry(
                "random-sparse:N[,successors=K][,seed=SEED]",
                f"N states with K random successors each, N ≤ {MAX_SPARSE_STATES}, K ≤ {MAX_SUCCESSORS}",
                "random-sparse:1000,successors=5,seed=1",
            ),
        ),
        argument=("n", _whole(1, MAX_SPARSE_STATES)),
        required=True,
        options={"successors": _whole(1, MAX_SUCCESSORS), "seed": _seed},
    ),
}
