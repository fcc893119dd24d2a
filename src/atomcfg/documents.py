"""Input texts, their parsed values, and where each value came from.

A clean file pays nothing for positions: they are looked up in the text when a diagnostic needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from attrs import evolve, field, frozen

from .diagnostics import Span
from .positions import Place, locate
from .value import Value

__all__ = ["Document", "JsonPath", "Origin", "Source", "dotted"]

JsonPath = tuple[str | int, ...]


@frozen(eq=False, repr=False)
class Source:
    """One input text. `role`: config | threshold | cluster | lab | option | environment."""

    role: str
    name: str
    data: bytes
    key: str = ""  # for a threshold file: the name that reaches it from the config's folder

    @property
    def reached_as(self) -> str:
        return self.key or self.name

    @property
    def stem(self) -> str:
        """File name without folder and `.json`."""
        base = self.name.replace("\\", "/").rsplit("/", 1)[-1]
        return base[: -len(".json")] if base.lower().endswith(".json") else base


@frozen(eq=False, repr=False)
class Origin(Value):
    """Where a value was written: a path in a text, or an option (whose `path` is empty)."""

    name: str  # file name, "--set", "CVS_CONFIG_PROFILE", "default"
    text: str = field(default="", repr=False)
    path: JsonPath = ()
    key: bool = False  # the value was written as a key

    @property
    def is_file(self) -> bool:
        return bool(self.text)

    def below(self, *keys: str | int) -> Origin:
        return evolve(self, path=self.path + keys) if keys else self


DEFAULT = Origin("default")


@frozen(eq=False, repr=False)
class Document:
    """A parsed value with the origins of its parts: each key of `origins` is the path of a subtree.

    `names` says how the user's dialect calls a path that it calls otherwise. `ordinary`: the parser saw that JSON
    Schema reads every value as this language does, so nobody needs to look again.
    """

    value: object
    origins: Mapping[JsonPath, Origin]
    names: Mapping[JsonPath, str] = field(factory=dict, repr=False)
    ordinary: bool = False
    locator: Callable[[str, JsonPath, bool], Place] = field(default=locate, repr=False)

    def origin(self, path: JsonPath) -> Origin:
        """The origin of the value at `path`: that of the nearest recorded ancestor, extended."""
        for cut in range(len(path), -1, -1):
            found = self.origins.get(path[:cut])
            if found is not None:
                return found.below(*path[cut:]) if found.is_file else found
        return DEFAULT

    def span(self, path: JsonPath, key: bool = False) -> Span:
        """Where the value at `path` (or its key) stands in the text it came from."""
        origin = self.origin(path)
        if not origin.is_file:
            return Span(origin.name, path=dotted(path))
        place = self.locator(origin.text, origin.path, key or origin.key)
        return Span(origin.name, place.line, place.column, place.end_column, dotted(origin.path), place.shown)

    def called(self, *path: str | int) -> str:
        """The dotted path as the user's dialect spells it."""
        for cut in range(len(path), 0, -1):
            if path[:cut] in self.names:
                rest = dotted(path[cut:])
                return self.names[path[:cut]] + (f".{rest}" if rest and not rest.startswith("[") else rest)
        return dotted(path)

    def get(self, *path: str | int) -> object:
        """The value at `path`, or None."""
        here = self.value
        for step in path:
            if isinstance(here, dict) and isinstance(step, str):
                here = here.get(step)
            elif isinstance(here, list) and isinstance(step, int) and 0 <= step < len(here):
                here = here[step]
            else:
                return None
        return here


@lru_cache(maxsize=4096)
def dotted(path: JsonPath) -> str:
    """`('sweep', 'runs', 2)` as `sweep.runs[2]`; keys that are not plain words are quoted."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif step.replace("_", "a").replace("-", "a").isalnum():
            out += f".{step}" if out else step
        else:
            out += f'["{step}"]'
    return out
