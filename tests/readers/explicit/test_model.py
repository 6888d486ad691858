"""Explicit models: a `.tra` file and what stands beside it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import BisimetricError, FileFormatError, InvalidChain, InvalidOption
from tests.readers.explicit.files import PRISM, PROCESS, STORM, write


@pytest.mark.parametrize("parts", [PRISM, STORM], ids=["PRISM", "Storm"])
def test_a_chain_with_everything(tmp_path, parts):
    """Files beside the transitions are found; both dialects give the same chain."""
    chain = bm.from_explicit(write(tmp_path, parts))
    assert chain.transitions.toarray().tolist() == [[0, 0.5, 0.5], [0, 1, 0], [0.25, 0, 0.75]]
    assert chain.start.tolist() == [1, 0, 0]
    assert chain.labels == (("safe",), ("goal", "safe"), ())
    assert chain.reward.tolist() == [1.5, 0, -2 + 0.25 * 4 + 0.75 * 8]
    assert chain.names == ("x=0,b=true", "x=1,b=false", "x=-1,b=true")


def test_a_process(tmp_path):
    """Names of choices are actions; rewards of transitions are expected ones."""
    mdp = bm.from_explicit(write(tmp_path, PROCESS))
    assert mdp.actions == ("go", "stay")
    assert mdp.available.tolist() == [[True, True], [False, True]]
    assert mdp.rewards.tolist() == [[0, 4], [0, 0]]
    assert mdp.transitions[1].toarray().tolist() == [[0.5, 0.5], [0, 1]]
    assert mdp.labels == ((), ())


def test_by_name(tmp_path):
    """`as_chain` and `as_mdp` take the name of the file, with options behind it."""
    path = write(tmp_path, PRISM)
    assert bm.as_chain(path) == bm.as_chain(str(path)) == bm.from_explicit(path)
    stuck = write(tmp_path, {"tra": "2 1\n0 1 1\n"}, "stuck")
    assert bm.as_chain(f"{stuck},deadlocks=self-loops").transitions.toarray().tolist() == [[0, 1], [0, 1]]
    process = write(tmp_path, PROCESS, "process")
    assert bm.as_mdp(process) == bm.from_explicit(process)
    with pytest.raises(InvalidChain, match="under"):
        bm.as_chain(process)
    with pytest.raises(InvalidOption, match="deadlocks"):
        bm.as_chain(f"{path},deadlock=self-loops")


def test_files_elsewhere(tmp_path):
    """Given by path, also where one stands beside the transitions."""
    path = write(tmp_path, {"tra": PRISM["tra"], "lab": PRISM["lab"]})
    other = tmp_path / "other.txt"
    other.write_text('0="init" 2="far"\n2: 0 2\n')
    chain = bm.from_explicit(path, other)
    assert chain.labels == ((), (), ("far",))
    assert chain.start.tolist() == [0, 0, 1]
    with pytest.raises(FileFormatError, match="no such file"):
        bm.from_explicit(path, tmp_path / "missing.lab")


def test_several_initial_states(tmp_path):
    """Are equally likely."""
    path = write(tmp_path, {"tra": PRISM["tra"], "lab": '0="init"\n0: 0\n2: 0\n'})
    chain = bm.from_explicit(path)
    assert chain.start.tolist() == [0.5, 0, 0.5]
    assert chain.labels is None  # no label is declared


def test_deadlocks(tmp_path):
    """Are refused, or get a self-loop and a label on request."""
    path = write(tmp_path, {"tra": "3 2\n0 1 1\n2 1 1\n", "lab": '0="init" 1="deadlock"\n0: 0\n'})
    with pytest.raises(FileFormatError, match='deadlocks="self-loops"'):
        bm.from_explicit(path)
    chain = bm.from_explicit(path, deadlocks="self-loops")
    assert chain.transitions.toarray().tolist() == [[0, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert chain.labels == ((), ("deadlock",), ())
    process = write(tmp_path, {"tra": "3 2 2\n0 0 1 1 a\n2 0 1 1 b\n"}, "process")
    mdp = bm.from_explicit(process, deadlocks="self-loops")
    assert mdp.actions == ("a", "0", "b")
    with pytest.raises(InvalidOption, match="refuse"):
        bm.from_explicit(path, deadlocks="maybe")


# ------------------------------------------------------------------ errors


WRONG = [
    ("tra", "3 4\n" + PRISM["tra"].partition("\n")[2], 1, "says 4 transitions, the file has 5"),
    ("tra", PRISM["tra"].replace("0 1 0.5", "0 3 0.5"), 2, "0 to 2"),
    ("tra", PRISM["tra"].replace("0 1 0.5", "-1 1 0.5"), 2, "0 to 2"),
    ("tra", PRISM["tra"].replace("0 1 0.5", "0 1.5 0.5"), 2, "whole"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 0 0.75"), 6, "also in line 5"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2 nan"), 6, "no number"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2 0x1p3"), 6, "no number"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2 1e999"), 6, "finite"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2 7.5"), 6, "rates"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2 -0.75"), 6, "from 0 to 1"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2 0.5"), 5, "sum to 0.75"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2"), 6, "2 columns"),
    ("tra", PRISM["tra"].replace("2 2 0.75", "2 2 0.7\u00e95"), 6, "no number"),
    ("tra", "ctmc\n0 0 1\n", 1, "CTMC"),
    ("tra", "2 3 4 5\n0 0 0 1\n", 1, "POMDP"),
    ("tra", "rows\n0 0 1\n", 1, "header"),
    ("lab", '0="init"\n0: 0\n3: 0\n', 3, "0 to 2"),
    ("lab", '0="init"\n0: 1\n', 2, "not declared"),
    ("lab", '0="init"\n0: 0\n0: 0\n', 3, "twice"),
    ("lab", b'0="init" 1="\xff"\n', 1, "UTF-8"),
    ("lab", "init\n", 1, "#DECLARATION"),
    ("srew", "3 1\n0 1\n1 2\n", 1, "says 1 rewards"),
    ("srew", "3 2\n0 1\n0 2\n", 3, "also in line 2"),
    ("srew", "3 1\n7 1\n", 2, "0 to 2"),
    ("srew", "3 1\n0 inf\n", 2, "no number"),
    ("trew", "3 1\n0 0 2\n", 2, "no transition"),
    ("sta", "(x)\n0:(0)\n1:(1,2)\n", 3, "2 values"),
    ("sta", "(x)\n0:(0)\n0:(1)\n", 3, "twice"),
    ("sta", "x\n", 1, "variables"),
]


@pytest.mark.parametrize(("kind", "text", "line", "message"), WRONG)
def test_errors_name_file_and_line(tmp_path, kind, text, line, message):
    """What was wrong in which line of which file."""
    path = write(tmp_path, PRISM | {kind: text})
    with pytest.raises(FileFormatError, match=message) as caught:
        bm.from_explicit(path)
    assert str(path.with_suffix(f".{kind}")) in str(caught.value)
    assert f"line {line}:" in str(caught.value)


def test_files_that_are_none(tmp_path):
    """Missing, empty, a folder, another encoding."""
    with pytest.raises(FileFormatError, match="no such file"):
        bm.from_explicit(tmp_path / "missing.tra")
    for name, content in (("empty.tra", b""), ("wide.tra", "2 1\n0 0 1\n".encode("utf-16"))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=name):
            bm.from_explicit(tmp_path / name)
    os.mkdir(tmp_path / "folder.tra")
    with pytest.raises(FileFormatError, match="folder"):
        bm.from_explicit(tmp_path / "folder.tra")
    with pytest.raises(InvalidOption):
        bm.from_explicit(3)


def test_huge_counts_take_no_memory(tmp_path):
    """A header that lies is refused before anything is allocated."""
    for text in (
        "999999999999 1\n0 0 1\n",
        "dtmc\n0 0 1\n999999999999 0 1\n",
        "1 999999999999 1\n0 999999999998 0 1\n",
    ):
        with pytest.raises(BisimetricError):
            bm.from_explicit(write(tmp_path, {"tra": text}))


# ------------------------------------------------------------------ fuzz


@st.composite
def changed(draw):
    """The files of a model, with something changed in one of them."""
    parts = {kind: text.encode() for kind, text in draw(st.sampled_from((PRISM, STORM, PROCESS))).items()}
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(sorted(parts)))
        data = parts[kind]
        at, end = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        patch = draw(
            st.one_of(
                st.binary(max_size=6),
                st.sampled_from(
                    (b"", b"-", b"nan", b"1e400", b"99999999999999999999", b"\n", b" ", b"#", b"(", b'"', b"=")
                ),
                st.just(data[at:end]),
            )
        )
        parts[kind] = data[:at] + patch + data[min(end, at + draw(st.sampled_from((0, 1, 8)))) :]
    return parts


@given(changed(), st.sampled_from(("refuse", "self-loops")))
@example({"tra": b"dtmc\n0 0 1e\n"}, "refuse")
@example({"tra": b"dtmc\n0 0 1-2\n0 1 0\n1 1 1"}, "refuse")
@example({"tra": b"mdp\n0 3 0 1\n"}, "self-loops")
def test_changed_files_give_models_or_our_errors(parts, deadlocks):
    """Whatever is in them."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), parts)
        with suppress(BisimetricError):
            model = bm.from_explicit(path, deadlocks=deadlocks)
            rows = (model.transitions,) if isinstance(model, bm.MarkovChain) else model.transitions
            assert all((np.add.reduceat(matrix.data, matrix.indptr[:-1]) == 1).all() for matrix in rows)
