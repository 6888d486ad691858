"""What holds at each time of a finite horizon, where the same often holds at all times.

Each different thing is kept once, and a number says which of them holds at which time. So what is the same at a million
times is looked at, checked and stored once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable, frozen

Part = TypeVar("Part")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Steps(Immutable, Sequence[Part], Generic[Part]):
    """A read-only sequence of one thing for each of the times 0, …, h - 1.

    Parameters
    ----------
    different : tuple
        The things, each once, in the order of their first times.
    places : array [h] of int
        Which of them holds at each time.
    """

    different: tuple[Part, ...]
    places: npt.NDArray[np.intp]

    @classmethod
    def always(cls, part: Part, count: int) -> Steps[Part]:
        """The same thing at all times."""
        return cls((part,), np.broadcast_to(np.intp(0), count))

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Steps[Part]:
        """These things; the same object is kept once."""
        first: dict[int, int] = {}
        different: list[Part] = []
        places: list[int] = []
        for part in parts:
            place = first.setdefault(id(part), len(different))
            if place == len(different):
                different.append(part)
            places.append(place)
        return cls(tuple(different), frozen(np.array(places, np.intp)))

    def each(self, make: Callable[[Part], Made]) -> Steps[Made]:
        """What is made of every thing, once."""
        return Steps(tuple(make(part) for part in self.different), self.places)

    def alike(self, time: int, other: int) -> bool:
        """Whether the same thing holds at both times."""
        return bool(self.places[time] == self.places[other])

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Part]:
        if len(self.different) == 1:
            yield from self.different * len(self)
        else:
            yield from map(self.different.__getitem__, self.places.tolist())

    @overload
    def __getitem__(self, time: int) -> Part: ...

    @overload
    def __getitem__(self, time: slice) -> tuple[Part, ...]: ...

    def __getitem__(self, time: Any) -> Any:
        found = self.places[time]
        return tuple(self.different[k] for k in found) if isinstance(time, slice) else self.different[found]
