"""Models of PRISM, JANI and DRN files, through Storm (the package stormpy); and models that stormpy holds.

Storm parses and builds; its messages go into our errors, and nothing is printed. stormpy is imported here only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bisimetric._support.options import hint, one_of
from bisimetric.errors import BisimetricError, FileFormatError, InvalidOption, MissingExtra, NotEnoughMemory
from bisimetric.io.drn import read_names
from bisimetric.io.files import described, open_regular, usable_path
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.readers.model_checking import DEADLOCK_LABEL, DEADLOCKS, Deadlocks
from bisimetric.readers.reader import Reader, is_from
from bisimetric.readers.specs import is_file_of, split_spec
from bisimetric.readers.storm_models import Reward, about_the_file, check_kind_of, deadlocked, model_of

PRISM_SUFFIXES = (".prism", ".pm", ".nm", ".sm", ".smg", ".ma")
JANI_SUFFIX, DRN_SUFFIX = ".jani", ".drn"
NOT_CONSTANTS = ("reward", "deadlocks")  # what else follows a file name is a constant
BYTES_PER_STATE_LINE = 6  # a DRN file has at least this much for every state
BYTES_OF_HEAD = 2**16  # of a DRN file, in which sizes and parameters stand
PARAMETERS = re.compile(rb"^@parameters[^\n]*\n([^@\n]*)", re.MULTILINE)
INTERVAL = re.compile(rb"^\s*[0-9]+\s*:\s*\[|^@value_type:.*interval", re.MULTILINE)
SIZES = re.compile(rb"@nr_(states|choices)\s+([0-9]+)")

Constants = Mapping[str, object] | str | None


def from_prism(
    path: object, *, constants: Constants = None, reward: Reward = None, deadlocks: Deadlocks = "self-loops"
) -> MarkovChain | MDP:
    """Read a PRISM model through Storm.

    Parameters
    ----------
    path : str or Path
        A file in PRISM's language (`.prism`, `.pm`, `.nm`).
    constants : mapping or str, optional
        Values of the constants that the file leaves open: `{"N": 16, "MAX": 2}` or `"N=16,MAX=2"`.
    reward : str, optional
        The reward structure to take; `""` is the one without a name, False means none. By default the only one; if
        there are several, none.
    deadlocks : "self-loops" or "refuse"
        States without transitions have a self-loop and the label "deadlock", as in PRISM and Storm, or are refused.

    Returns
    -------
    MarkovChain or MDP
        A chain for a DTMC, a process for an MDP. `labels` are sets of propositions: sorted tuples of text. "init" is
        none of them: it makes the start, uniform if there are several initial states. States are named by their
        variables, as in `s=0,d=1`; actions by the labels of commands, or by numbers. The reward of a
        state (and action) is the state's, plus the action's, plus the expected reward of its transitions; a process
        without rewards has zeros.

    Raises
    ------
    FileFormatError
        The file cannot be read, has a syntax error (the message has Storm's words, with line and column), or is another
        kind of model, such as a CTMC.
    InvalidOption
        A constant has no value or is unknown, or there is no such reward structure.
    MissingExtra
        stormpy is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bisimetric as bm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "coin.prism"
    >>> _ = path.write_text('''dtmc
    ... const double p;
    ... module coin
    ...   heads : bool init false;
    ...   [] !heads -> p : (heads'=true) + 1-p : (heads'=false);
    ...   [] heads -> true;
    ... endmodule
    ... label "done" = heads;''')
    >>> coin = bm.from_prism(path, constants={"p": 0.25})
    >>> coin.names, coin.labels
    (('heads=false', 'heads=true'), ((), ('done',)))
    """
    return _from_program(path, constants, reward, deadlocks, is_jani=False)


def from_jani(
    path: object, *, constants: Constants = None, reward: Reward = None, deadlocks: Deadlocks = "self-loops"
) -> MarkovChain | MDP:
    """Read a JANI model through Storm.

    Parameters
    ----------
    path : str or Path
        A `.jani` file.
    constants, reward, deadlocks
        As in `from_prism`.

    Returns
    -------
    MarkovChain or MDP
        As in `from_prism`.

    Raises
    ------
    FileFormatError, InvalidOption, MissingExtra
        As in `from_prism`.

    Examples
    --------
    >>> import bisimetric as bm
    >>> from stormpy.examples.files import jani_dtmc_die
    >>> bm.from_jani(jani_dtmc_die)
    MarkovChain(13 states, 20 transitions, start, names, labels)
    """
    return _from_program(path, constants, reward, deadlocks, is_jani=True)


def from_drn(path: object, *, reward: Reward = None, deadlocks: Deadlocks = "refuse") -> MarkovChain | MDP:
    """Read a model in Storm's explicit format DRN, through Storm.

    Parameters
    ----------
    path : str or Path
        A `.drn` file, such as `bisimetric.save` writes.
    reward : str, optional
        As in `from_prism`.
    deadlocks : "refuse" or "self-loops"
        What to do about states without transitions: refuse the file, or give them a self-loop and the label "deadlock".

    Returns
    -------
    MarkovChain or MDP
        As in `from_prism`; the file has no names of states.

    Raises
    ------
    FileFormatError
        The file cannot be read, has parameters or intervals, or is another kind of model, such as a CTMC.
    InvalidOption
        There is no such reward structure.
    MissingExtra
        stormpy is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bisimetric as bm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "coin.drn"
    >>> bm.save(bm.MarkovChain([[0.5, 0.5], [0, 1]], labels=[[], ["done"]], start=0), path)
    >>> bm.from_drn(path)
    MarkovChain(2 states, 3 transitions, start, labels)
    """
    one_of(deadlocks, "deadlocks", DEADLOCKS)
    place = usable_path(path, "path")
    stormpy = _stormpy(place)
    with _calling_storm(stormpy, place):
        options = stormpy.io.DirectEncodingParserOptions()
        options.build_choice_labeling = _check_drn_head(place)
        found = stormpy.build_model_from_drn(str(place), options=options)
        return model_of(found, reward=reward, deadlocks=deadlocks, names=read_names(place))


def _from_program(
    path: object, constants: Constants, reward: Reward, deadlocks: Deadlocks, is_jani: bool
) -> MarkovChain | MDP:
    """Parse, define constants, build, convert."""
    one_of(deadlocks, "deadlocks", DEADLOCKS)
    place = usable_path(path, "path")
    values = _as_texts(constants)
    stormpy = _stormpy(place)
    with _calling_storm(stormpy, place):
        open_regular(place, "a model")[0].close()
        if is_jani:
            program, _ = stormpy.parse_jani_model(str(place))
        else:
            program = stormpy.parse_prism_program(str(place), prism_compatibility=True)
        _check_program(program)
        variables = _jani_variables(program) if is_jani else _prism_variables(program, place)
        _check_constants(program, values)
        if values:
            definitions = ",".join(f"{name}={value}" for name, value in values.items())
            program, _ = stormpy.instantiate_constants(program, definitions)
        options = stormpy.BuilderOptions()
        options.set_build_all_labels()
        options.set_build_all_reward_models()
        options.set_build_state_valuations()
        options.set_build_choice_labels()
        found = stormpy.build_model(program, options=options)
        stuck = list(found.labeling.get_states(DEADLOCK_LABEL)) if found.labeling.contains_label(DEADLOCK_LABEL) else []
        if stuck and deadlocks == "refuse":  # Storm has given them self-loops
            raise deadlocked(stuck)
        return model_of(found, reward=reward, deadlocks=deadlocks, variables=variables)


def _stormpy(what: object) -> Any:
    try:
        import stormpy
        import stormpy.developer
    except ImportError:
        raise MissingExtra(f"{what} needs stormpy, which is missing: pip install 'bisimetric[storm]'") from None
    return stormpy


@contextmanager
def _calling_storm(stormpy: Any, place: Path) -> Iterator[None]:
    """Storm is silent inside, and every error becomes one that names the file."""
    developer = stormpy.developer
    level = developer.get_log_level()
    developer.set_log_level(developer.LogLevel.OFF)
    try:
        yield
    except (InvalidOption, NotEnoughMemory) as error:
        raise type(error)(described(place, error)) from None
    except BisimetricError as error:
        raise FileFormatError(described(place, about_the_file(error))) from None
    except MemoryError:
        raise NotEnoughMemory(described(place, "building it needs more memory than there is")) from None
    except Exception as error:  # Storm's kinds of exceptions arrive as several kinds
        raise FileFormatError(described(place, f"Storm: {_one_line(error)}")) from None
    finally:
        developer.set_log_level(level)


def _one_line(error: Exception) -> str:
    """Storm's message without the name of its class, and without marks that need several lines."""
    lines = [line.strip() for line in str(getattr(error, "message", error)).splitlines()]
    text = " ".join(line for line in lines if line.strip("^"))
    return re.sub(r"^(Storm: )?\w+Exception: ", "", text) or type(error).__name__


def _check_program(program: Any) -> None:
    try:
        kind = program.model_type
    except ValueError:  # games have no name in stormpy
        return
    check_kind_of(kind)


def _jani_variables(model: Any) -> list[str]:
    """The variables that make up a state."""
    own = [*model.global_variables, *(variable for automaton in model.automata for variable in automaton.variables)]
    return [variable.name for variable in own if not variable.is_transient]


def _prism_variables(program: Any, place: Path) -> list[str]:
    """The variables in the order in which the file declares them; those of renamed modules follow."""
    text = place.read_text(encoding="utf-8", errors="replace")
    places = {name: re.search(rf"\b{re.escape(name)}\s*:", text) for name in (v.name for v in program.variables)}
    return sorted(places, key=lambda name: found.start() if (found := places[name]) is not None else len(text))


def _check_drn_head(place: Path) -> bool:
    """Whether a DRN file tells its number of choices, which Storm needs to read their names.

    Files that announce more states than they can have are refused before Storm makes room for them.
    """
    file, size = open_regular(place, "a model")
    with file:
        head = file.read(BYTES_OF_HEAD)
    sizes = SIZES.findall(head)
    for what, count in sizes:
        if int(count[:18]) > size // BYTES_PER_STATE_LINE:
            said = f"{count[:18].decode()} {what.decode()}"
            raise FileFormatError(f"says that it has {said}, more than its {size} bytes can hold")
    parameters = PARAMETERS.search(head)
    if parameters is not None and parameters[1].strip():
        names = parameters[1].decode("utf-8", "replace").strip()
        raise FileFormatError(f"has the parameters {names}, expected numbers; give them values where the file is made")
    if INTERVAL.search(head) is not None:
        raise FileFormatError("has intervals of probabilities, expected numbers; choose a value from each")
    return any(what == b"choices" for what, _ in sizes)


def _as_texts(constants: Constants) -> dict[str, str]:
    """Values of constants as Storm reads them."""
    if constants is None:
        return {}
    if isinstance(constants, str):
        pairs = [part.partition("=") for part in constants.split(",") if part.strip()]
        if not all(name.strip() and equals and value.strip() for name, equals, value in pairs):
            raise InvalidOption(f"constants is {constants!r}, expected values such as N=5,K=2")
        return {name.strip(): value.strip() for name, _, value in pairs}
    if not isinstance(constants, Mapping):
        raise InvalidOption(f"constants is a {type(constants).__name__}, expected a dict or text such as N=5,K=2")
    return {str(name): _as_text(name, value) for name, value in constants.items()}


def _as_text(name: object, value: object) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, (int, float, Fraction, str)) and not set(str(plain)) & set(",="):
        return repr(plain) if isinstance(plain, float) else str(plain)
    raise InvalidOption(f"constant {name} is {plain!r}, expected a number, True or False, or text that is one")


def _check_constants(program: Any, values: Mapping[str, str]) -> None:
    """All constants that are open have a value, and no others."""
    known = {constant.name: constant.defined for constant in program.constants}
    for name in values:
        if known.get(name, True):
            open_ones = [constant for constant, defined in known.items() if not defined]
            state = "has a value in the file" if name in known else "is unknown"
            expected = f"expected one of {', '.join(open_ones)}" if open_ones else "the file leaves none open"
            raise InvalidOption(f"constant {name!r} {state}, {expected}{hint(name, open_ones)}")
    missing = [name for name, defined in known.items() if not defined and name not in values]
    if missing:
        example = ",".join(f"{name}=…" for name in missing)
        raise InvalidOption(
            f"no value for the constant{'s' if len(missing) > 1 else ''} {', '.join(missing)}; "
            f'give constants="{example}", behind a file name ,{example}'
        )


# ------------------------------------------------------------------ by name, and objects


def _read(given: Any) -> MarkovChain | MDP:
    if not isinstance(given, str):
        return model_of(given, reward=None, deadlocks="refuse")
    spec = split_spec(given)
    options: dict[str, Any] = {key: value for key, value in spec.options.items() if key in NOT_CONSTANTS}
    if options.get("reward") == "none":
        options["reward"] = False
    if spec.head.lower().endswith(DRN_SUFFIX):
        spec.check_options(NOT_CONSTANTS)
        return from_drn(spec.head, **options)
    constants = {key: value for key, value in spec.options.items() if key not in NOT_CONSTANTS}
    read = from_jani if spec.head.lower().endswith(JANI_SUFFIX) else from_prism
    return read(spec.head, constants=constants, **options)


def _matches(obj: object) -> bool:
    held = is_from(obj, "stormpy") and hasattr(obj, "transition_matrix") and hasattr(obj, "labeling")
    return held or is_file_of(obj, (*PRISM_SUFFIXES, JANI_SUFFIX, DRN_SUFFIX))


READER = Reader("a model of PRISM or Storm (.prism, .pm, .nm, .jani, .drn, or of stormpy)", _matches, _read)
