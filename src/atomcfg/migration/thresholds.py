"""A threshold file with canonical cell keys and bare metric names; order, bounds and comments stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atomcfg.cellkey import KeyFault, parse_key

__all__ = ["TwoForOne", "canonical_key", "modern_thresholds"]

_PREFIX = "client."
_BY_ID = ("accuracy", "long_context_accuracy")  # {id: {metric: spec}}
_CHECKS = ("mtp_quality", "quant_parity")  # {metric: spec}


class TwoForOne(Exception):
    """Two keys of one object would become `name`."""

    def __init__(self, name: str, path: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.path = path  # of the second one


def canonical_key(text: str) -> str:
    """A cell key in canonical form; what is none stays as it is."""
    parsed = parse_key(text)
    return text if isinstance(parsed, KeyFault) else str(parsed.key)


def modern_thresholds(value: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """The document in today's form, and what was changed. Raises `TwoForOne`."""
    change = _Change()
    profiles = value.get("profiles")
    if not isinstance(profiles, dict):
        return change.table(value, ()), change.said()
    made = {
        name: change.table(body, ("profiles", name))
        if isinstance(body, dict) and not name.startswith("_")
        else body
        for name, body in profiles.items()
    }
    return {**value, "profiles": made}, change.said()


class _Change:
    """Rewrites the tables of one file and counts what it did."""

    def __init__(self) -> None:
        self._keys: list[tuple[str, str]] = []
        self._names: list[tuple[str, str]] = []

    def said(self) -> tuple[str, ...]:
        kinds = ((self._keys, "cell key", "in canonical form"), (self._names, "metric name", "bare"))
        return tuple(
            f"{len(done)} {what}{'s' if len(done) > 1 else ''} {how}: {done[0][0]} -> {done[0][1]}"
            for done, what, how in kinds
            if done
        )

    def table(self, table: Mapping[str, object], path: tuple[str, ...]) -> dict[str, object]:
        """A table of cell keys and checks."""
        renamed = _renamed(table, lambda key: canonical_key(key) if "=" in key else key, self._keys, path)
        return {key: self._entry(key, body, (*path, key)) for key, body in renamed.items()}

    def _entry(self, key: str, body: object, path: tuple[str, ...]) -> object:
        if not isinstance(body, dict) or key.startswith("_"):
            return body
        if key in _BY_ID:
            return {
                name: self._bounds(item, (*path, name)) if isinstance(item, dict) and name[:1] != "_" else item
                for name, item in body.items()
            }
        return self._bounds(body, path) if "=" in key or key in _CHECKS else body

    def _bounds(self, bounds: Mapping[str, object], path: tuple[str, ...]) -> dict[str, object]:
        renamed = _renamed(bounds, lambda name: name.removeprefix(_PREFIX), self._names, path)
        return {name: self._spec(spec) for name, spec in renamed.items()}

    def _spec(self, spec: object) -> object:
        reference = spec.get("reference") if isinstance(spec, dict) else None
        if not isinstance(spec, dict) or not isinstance(reference, str) or not reference.startswith(_PREFIX):
            return spec
        bare = reference.removeprefix(_PREFIX)
        self._names.append((reference, bare))
        return {**spec, "reference": bare}


def _renamed(
    table: Mapping[str, object],
    rename: Callable[[str], str],
    done: list[tuple[str, str]],
    path: tuple[str, ...],
) -> dict[str, object]:
    """`table` with its keys renamed, comments aside, in the same order; `done` gathers old and new names."""
    made: dict[str, object] = {}
    for key, item in table.items():
        name = key if key.startswith("_") else rename(key)
        if name in made:
            raise TwoForOne(name, (*path, key))
        if name != key:
            done.append((key, name))
        made[name] = item
    return made
