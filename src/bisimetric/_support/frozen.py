"""Read-only objects, so that an answer cannot change and its certificate stays right.

numpy forgets that an array is read-only when it is pickled or deep-copied, and a sparse array whose parts are read-only
can still get new parts. So every public object that holds arrays is an `Immutable`, and holds sparse arrays in a
`SparseField`. A constructor sets the fields of its own object; the only other ways are `changed` and, for lists of many
objects most of which nobody may look at, `MadeLater`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

ImmutableT = TypeVar("ImmutableT", bound="Immutable")
MAKER, MAKERS_NUMBER = (
    "_maker",
    "_number",
)  # attributes of a `MadeLater`: the function that makes its fields, and its number


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, read-only from now on."""
    array.setflags(write=False)
    return array


class Immutable:
    """A frozen dataclass whose arrays are read-only, also after pickle, copy and deepcopy.

    A copy is the object itself: nothing in it can change.
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        held = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        held |= getattr(self, "__dict__", {})
        return _rebuild, (
            type(self),
            {name: value for name, value in held.items() if name not in (MAKER, MAKERS_NUMBER)},
        )


class MadeLater:
    """A dataclass without defaults, whose fields may be computed on their first use."""

    __slots__ = ()

    @classmethod
    def later(cls, make: Callable[[int, str], Mapping[str, Any]], k: int) -> Self:
        """An object that asks `make(k, name)` for a field; where threads meet, one may be made twice.

        The answer may have other fields too, which are then not asked for.
        """
        made = object.__new__(cls)
        object.__setattr__(made, MAKER, make)  # without a dict or a tuple, which the garbage collector would visit
        object.__setattr__(made, MAKERS_NUMBER, k)
        return made

    if not TYPE_CHECKING:  # a type checker should know which attributes there are

        def __getattr__(self, name):
            """Called where an attribute is missing: make it, if it is a field."""
            own = self.__dict__
            if MAKER not in own or name not in self.__dataclass_fields__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            own.update({**own[MAKER](own[MAKERS_NUMBER], name), **own})  # what somebody has read stays
            return own[name]


def changed(thing: ImmutableT, **values: object) -> ImmutableT:
    """The same object with other values of some fields; they are not checked again, and arrays become read-only."""
    names = {field.name for field in fields(thing)}  # type: ignore[arg-type]
    assert set(values) <= names, set(values) - names
    return _rebuild(type(thing), {name: values[name] if name in values else getattr(thing, name) for name in names})


def _rebuild(kind: type[ImmutableT], values: dict[str, Any]) -> ImmutableT:
    """An object with these fields, as pickle and `changed` make it."""
    thing = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(thing, name, _refreeze(value))
    return thing


def _refreeze(value: Any) -> Any:
    """The same value; if it is an array, a sparse array or a tuple of those, they are read-only."""
    if isinstance(value, np.ndarray):
        frozen(value)
    elif sparse.issparse(value):
        for part in (value.data, value.indices, value.indptr):
            frozen(part)
    elif isinstance(value, tuple) and value and not isinstance(value[0], str):  # names hold no arrays
        for part in value:
            _refreeze(part)
    return value
