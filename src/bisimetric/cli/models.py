"""Models of the command line: a text, or stdin, becomes a model by `as_chain` or `as_model`.

`--const` and `--normalise-rows` are options of the text (`brp.prism,N=16`, `counts.csv,normalise`) for all models at
once. stdin is copied to a file first, so that every format can be read from there; its first bytes say which it is.
With `--policy` decision processes become chains here.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bisimetric._support.memory import in_words
from bisimetric.cli.arguments import Request
from bisimetric.cli.output import STDOUT
from bisimetric.errors import BisimetricError, FileFormatError, InvalidChain, InvalidOption
from bisimetric.io.files import SIZE_LIMIT, SUFFIXES
from bisimetric.io.save_load import EXPORTS
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.readers.convert import as_chain, as_model
from bisimetric.readers.explicit.model import TRANSITIONS_SUFFIX
from bisimetric.readers.matrices import MATRIX_SUFFIXES
from bisimetric.readers.specs import is_file_of, split_spec
from bisimetric.readers.storm import JANI_SUFFIX, PRISM_SUFFIXES

STDIN = "-"
WITH_CONSTANTS = (*PRISM_SUFFIXES, JANI_SUFFIX)  # files that `--const` is for
WITH_ROWS = (*MATRIX_SUFFIXES, TRANSITIONS_SUFFIX, ".json")  # files that `--normalise-rows` is for
MODEL_ENDINGS = (*SUFFIXES, *EXPORTS)  # files that models can be written to
SINGLE_FILES = tuple(ending for ending in MODEL_ENDINGS if ending != ".tra")  # that stdout can take
STDIN_CHUNK = 2**20  # bytes
OTHER_STDIN = "; `bisimetric convert - OUT --from FORMAT` reads formats that are not recognised"
RECOGNISED_BY = 2**16  # bytes at the beginning of a file
BINARY_FILES = {b"PK\x03\x04": ".npz", b"\x93NUMPY": ".npy"}  # by how they begin
COMMENTS = re.compile(r"^\s*//.*$", re.MULTILINE)  # of PRISM and DRN files
MODULE = re.compile(r"^\s*module\s", re.MULTILINE)  # every PRISM model has one

ReadT = TypeVar("ReadT", MarkovChain, MDP, MarkovChain | MDP)


@dataclass(frozen=True, slots=True)
class Reading(Request):
    """How models are read."""

    const: list[str] | None
    normalise_rows: bool

    def chains(self, texts: Iterable[str], policy: str | None = None, discount: float = 1.0) -> list[MarkovChain]:
        """The chains that the texts stand for, decision processes under this policy."""
        if policy is None:
            return self._read(list(texts), as_chain, None)
        models = self._read(list(texts), as_model, None)
        if not any(isinstance(model, MDP) for model in models):
            raise InvalidOption("--policy is for decision processes, and there is none; leave it out")
        return [model.under(_chosen(policy, model, discount)) if isinstance(model, MDP) else model for model in models]

    def walks(self, texts: Iterable[str]) -> list[MarkovChain | MDP]:
        """The chains and decision processes that the texts stand for; those that `as_chain` walks are chains."""
        return self._read(list(texts), lambda text: as_model(text, walk=True), None)

    def models(self, texts: Iterable[str], stdin_format: str | None = None) -> list[MarkovChain | MDP]:
        """The chains and decision processes that the texts stand for; stdin holds a file of this ending."""
        return self._read(list(texts), as_model, stdin_format)

    def _read(self, texts: list[str], read: Callable[[object], ReadT], stdin_format: str | None) -> list[ReadT]:
        if texts.count(STDIN) > 1:
            raise InvalidOption("stdin (-) is given twice, expected once; it can be read only once")
        if STDIN not in texts:
            return [_explained(text, read) for text in self._with_options(texts)]
        with tempfile.TemporaryDirectory() as folder:
            file = _stdin_in(Path(folder), stdin_format)
            given = [str(file) if text == STDIN else text for text in texts]
            try:
                return [_explained(text, read) for text in self._with_options(given)]
            except BisimetricError as error:
                other = "" if stdin_format else OTHER_STDIN if "JSON" in str(error) else ""
                raise type(error)(str(error).replace(str(file), "stdin") + other) from None

    def _with_options(self, texts: list[str]) -> list[str]:
        if self.normalise_rows:
            texts = _extended(texts, {"normalise": "true"}, WITH_ROWS, "--normalise-rows")
        if self.const:
            texts = _extended(texts, _constants(self.const), WITH_CONSTANTS, "--const")
        return texts


STDIN_FORMAT = ".json"


def transition_count(model: MarkovChain | MDP) -> int:
    """How many transitions a model has, of all actions."""
    matrices = [model.transitions] if isinstance(model, MarkovChain) else model.transitions
    return sum(int(matrix.nnz) for matrix in matrices)


def write_model(model: MarkovChain | MDP, path: str) -> None:
    """Write a model to a file, by its ending, or to stdout as JSON."""
    if path == STDOUT:
        model_to_stdout(model, STDIN_FORMAT)
    else:
        model.save(path)


def model_to_stdout(model: MarkovChain | MDP, suffix: str) -> None:
    """Write a model to stdout, in the format of files with this ending."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"stdout{suffix}"
        write_model(model, str(file))
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:  # a stream of text only, as notebooks have
            sys.stdout.write(file.read_text(encoding="utf-8"))
        else:
            sys.stdout.flush()
            with open(file, "rb") as content:
                shutil.copyfileobj(content, stream)


def _constants(items: list[str]) -> dict[str, str]:
    """The constants of every `--const`."""
    constants: dict[str, str] = {}
    for item in ",".join(items).split(","):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not (name and equals and value):
            raise InvalidOption(f"--const has {item!r}, expected NAME=VALUE, as in --const N=5,K=2")
        if name in constants:
            raise InvalidOption(f"--const gives {name} twice, expected once")
        constants[name] = value
    return constants


def _extended(texts: list[str], options: dict[str, str], suffixes: tuple[str, ...], flag: str) -> list[str]:
    """The texts, with these options added to those that stand for files of these endings; own options stay."""
    if not any(is_file_of(text, suffixes) for text in texts):
        raise InvalidOption(f"{flag} is for files that end in {', '.join(suffixes)}, and there is none")
    found = []
    for text in texts:
        if is_file_of(text, suffixes):
            own = split_spec(text).options
            text += "".join(f",{key}={value}" for key, value in options.items() if key not in own)
        found.append(text)
    return found


def _explained(text: str, read: Callable[[object], ReadT]) -> ReadT:
    """Read a model; an error names the text that it is about."""
    try:
        return read(text)
    except (InvalidChain, FileFormatError) as error:
        if split_spec(text).head in str(error):
            raise
        raise type(error)(f"{text}: {error}") from None


def _chosen(policy: str, mdp: MDP, discount: float) -> Any:
    if policy != "optimal":
        return policy
    if discount == 1.0:
        raise InvalidOption("--policy optimal needs --discount below 1: which policy is optimal depends on it")
    return mdp.optimal_policy(discount).policy


def _stdin_in(folder: Path, suffix: str | None) -> Path:
    """stdin as a file in a folder, with this ending, or with the one that its first bytes speak for."""
    copy = folder / "stdin"
    _copy_stdin(copy)
    if suffix is None:
        with open(copy, "rb") as content:
            suffix = suffix_of(content.read(RECOGNISED_BY))
    return copy.rename(copy.with_suffix(suffix))


def suffix_of(first: bytes) -> str:
    """The ending of files that begin like this; JSON where nothing speaks for another format."""
    for begin, suffix in BINARY_FILES.items():
        if first.startswith(begin):
            return suffix
    text = COMMENTS.sub("", first.decode("utf-8", "replace")).lstrip("\ufeff \t\r\n")
    if text.startswith("@"):
        return ".drn"
    if text.startswith("{"):
        return JANI_SUFFIX if '"jani-version"' in text else STDIN_FORMAT
    return ".prism" if MODULE.search(text) else STDIN_FORMAT


def _copy_stdin(file: Path) -> None:
    size = 0
    with open(file, "wb") as copy:
        while chunk := sys.stdin.buffer.read(STDIN_CHUNK):
            size += len(chunk)
            if size > SIZE_LIMIT:
                raise FileFormatError(f"stdin has more than {in_words(SIZE_LIMIT)}, expected a model file")
            copy.write(chunk)
