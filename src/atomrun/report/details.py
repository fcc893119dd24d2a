"""What opens below a cell or a check, as data: the deck's script lays it out when it is opened, so that a thousand
cells stay quick to load. Every text is set as text, never as markup."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from atomcfg.metrics import find
from atomrun.figures import number, visible

from .views import Gate, Group

__all__ = ["Details"]


@frozen
class Details:
    """The JSON for one deck. Texts that repeat (metric, word, unit, ...) stand once in `names`."""

    _names: dict[str, int] = field(factory=dict, init=False)
    _items: list[list[Any]] = field(factory=list, init=False)

    def add(self, groups: Iterable[Group], values: Mapping[str, float]) -> int:
        """Keep the gates and the further measurements of one owner; the number under which they are found."""
        self._items.append([[self._group(group) for group in groups], self._values(values)])
        return len(self._items) - 1

    def text(self) -> str:
        """A JSON document, safe to stand in an HTML script element."""
        content = {"names": list(self._names), "items": self._items}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")

    def _group(self, group: Group) -> list[Any]:
        head = [self._name(text) for text in (group.tier, group.word, group.tone, group.reason)]
        return [*head, [self._gate(gate) for gate in group.gates]]

    def _gate(self, gate: Gate) -> list[Any]:
        texts = (gate.metric, gate.word, gate.tone, gate.bound, gate.unit, gate.reason)
        room = None if gate.room is None else round(gate.room, 2)
        rest: Sequence[Any] = (visible(gate.actual), gate.margin, room, visible(gate.source), int(gate.vacuous))
        return [*map(self._name, texts), *rest]

    def _values(self, values: Mapping[str, float]) -> list[Any]:
        found: list[Any] = []
        for name, value in sorted(values.items()):
            known = find(name)
            found += [self._name(name), number(value), self._name(known.unit if known else "")]
        return found

    def _name(self, text: str) -> int:
        return self._names.setdefault(visible(text), len(self._names))
