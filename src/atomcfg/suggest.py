"""Words for messages: the nearest known name to a misspelt one, numbers of things."""

from __future__ import annotations

from collections.abc import Iterable, Sized

__all__ = ["counted", "did_you_mean", "nearest"]


def counted(things: Sized, noun: str) -> str:
    """`1 cell`, `2 cells`."""
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name of `known` that `name` most likely stands for; None if none is near.

    Case and the choice of `_`, `-` or a space do not count. Otherwise at most a third of the characters may
    differ, by the optimal string alignment distance (insert, delete, replace, swap neighbours). Of equally near
    names the first wins.
    """
    wanted = _plain(name)
    best: tuple[int, str] | None = None
    for candidate in known:
        plain = _plain(candidate)
        allowed = max(len(wanted), len(plain)) // 3
        if abs(len(wanted) - len(plain)) > allowed:
            continue
        distance = _distance(wanted, plain)
        if distance <= allowed and (best is None or distance < best[0]):
            best = (distance, candidate)
    return best[1] if best else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known name, or an empty text."""
    found = nearest(name, known)
    return f'did you mean "{found}"?' if found is not None else ""


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")


def _distance(left: str, right: str) -> int:
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            cost = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (a != b))
            if row > 1 and column > 1 and a == right[column - 2] and left[row - 2] == b:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return previous[-1]
