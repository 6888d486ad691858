"""Read-only objects, so that an answer cannot change and its certificate stays right.

numpy forgets that an array is read-only when it is pickled or deep-copied, and a sparse array whose parts are read-only
can still get new parts. So every public object that holds arrays is an `Immutable`, and holds sparse arrays in a
`SparseField`. A constructor sets the fields of its own object; `changed` is the only other way.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

ImmutableT = TypeVar("ImmutableT", bound="Immutable")


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
        slots = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return _rebuild, (type(self), slots | getattr(self, "__dict__", {}))


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
