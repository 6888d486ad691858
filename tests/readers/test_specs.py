"""A model as text: head and options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.errors import BisimetricError, InvalidOption
from bisimetric.readers.specs import has_prefix, is_file_of, read_value, split_spec


def test_head_and_options():
    """Options follow the head; a flag is true; commas in brackets and quotes separate nothing."""
    spec = split_spec('gym:FrozenLake-v1, is_slippery=false,desc=["SF","HG"],quick,name="a,b"')
    assert (spec.head, spec.prefix, spec.argument) == ("gym:FrozenLake-v1", "gym", "FrozenLake-v1")
    assert spec.values() == {"is_slippery": False, "desc": ["SF", "HG"], "quick": True, "name": "a,b"}
    assert split_spec("don't.prism,N=1").options == {"N": "1"}


def test_a_file_with_a_comma_wins(tmp_path):
    """Where a file has the name of the whole text, there are no options."""
    path = tmp_path / "a,b=1.json"
    assert split_spec(str(path)).options == {"b": "1.json"}
    path.touch()
    assert split_spec(str(path)).options == {}
    assert split_spec(str(path)).head == str(path)


@pytest.mark.parametrize("text", ["a.prism,", "a.prism,=3", "a.prism,N=", "a.prism,N=1,N=2"])
def test_what_is_no_option(text):
    """Empty keys, empty values and options given twice."""
    with pytest.raises(InvalidOption, match=r"a\.prism"):
        split_spec(text)


def test_unknown_options_are_named():
    """With what is known, and a hint."""
    with pytest.raises(InvalidOption, match="did you mean 'map_name'"):
        split_spec("gym:x,mapname=1").check_options(["map_name"])
    split_spec("gym:x,map_name=1").check_options(["map_name"])


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-1.5e3", -1500.0), ("True", True), ("none", None), ("'3'", "3"), ("[1,[a]]", [1, ["a"]]), ("[]", [])],
)
def test_values(text, value):
    """Numbers, flags, lists and texts."""
    found = read_value(text)
    assert found == value
    assert type(found) is type(value)


def test_deep_lists_are_text():
    """No nesting exhausts the stack."""
    assert isinstance(read_value("[" * 10_000 + "]" * 10_000), list)


def test_kinds_of_heads():
    """By ending or prefix, whatever options follow."""
    assert is_file_of("x.PRISM,N=1", (".prism",))
    assert is_file_of("a,b.json", (".json",))
    assert not is_file_of(3, (".prism",))
    assert has_prefix("gym:x", "gym")
    assert not has_prefix("gymnasium:x", "gym")


@given(st.text())
def test_any_text(text):
    """Any text is split, or refused with our error."""
    try:
        spec = split_spec(text)
        spec.values()
        assert spec.text == text
    except BisimetricError:
        pass
