"""Equality, hash and text of a class of values, by its fields."""

from __future__ import annotations

from operator import attrgetter

__all__ = ["Value"]


class Value:
    """A base for frozen attrs classes, for each of which attrs would compile these methods at every start."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._names())

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self._names()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names())
        return f"{type(self).__name__}({shown})"

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(map(attrgetter("name"), cls.__attrs_attrs__))  # type: ignore[attr-defined]  # attrs adds it
