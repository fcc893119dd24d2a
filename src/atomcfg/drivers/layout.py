"""What a driver writes around the user's arguments, and how the two become one argv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from atomcfg.documents import JsonPath, dotted
from atomcfg.model import Settings
from atomcfg.tokens import Token, fill
from atomcfg.value import Value

from .base import Arg
from .environment import located
from .flags import Given

__all__ = ["Layout", "Option", "compose", "option", "positional", "serving_option"]


@frozen(eq=False, repr=False)
class Option(Value):
    """One flag that the driver writes. `free`: only a default, which a user's value replaces."""

    name: str  # canonical
    arg: Arg
    origins: tuple[JsonPath, ...] = ()  # the settings it shows; empty for a constant
    free: bool = False
    negated: bool = False

    @property
    def flag(self) -> str:
        """How the driver writes it."""
        return fill(self.arg.tokens[0])

    @property
    def value(self) -> str:
        """What follows the flag, as far as the plan knows it; a positional word is its own value."""
        shown = [fill(token, unknown=lambda name: f"<{name}>") for token in self.arg.tokens]
        return " ".join(shown[1:] if shown[0].startswith("-") else shown)


@frozen(eq=False, repr=False)
class Layout:
    """A command without the user's arguments, which stand between `leading` and `trailing`."""

    program: tuple[str, ...]
    head: tuple[Option, ...] = ()  # always written, once
    leading: tuple[Option, ...] = ()  # written here unless the user gives the flag, whose words then stand here
    trailing: tuple[Option, ...] = ()  # written unless the user gives the flag, whose words stay where they are
    implied: tuple[Option, ...] = ()  # not written: a value that the user may repeat but not change
    refused: Mapping[str, str] = field(factory=dict)  # canonical names that the user may not give -> why

    @property
    def fixed(self) -> tuple[Option, ...]:
        """The options whose value the user may only repeat."""
        every = (*self.head, *self.leading, *self.trailing, *self.implied)
        return tuple(entry for entry in every if not entry.free)


def option(
    flag: str, *values: Token, name: str = "", origins: Sequence[JsonPath] = (), free: bool = False
) -> Option:
    """`flag` followed by its values, none for a switch. `name` is the canonical one where the flag is not."""
    negated = flag.startswith("--no-")
    canonical = name or flag.removeprefix("--no-").lstrip("-")
    arg = Arg((flag, *values), tuple(dotted(origin) for origin in origins))
    return Option(canonical, arg, tuple(origins), free, negated)


def positional(name: str, value: Token, *origins: JsonPath) -> Option:
    """A word that the program takes by its place."""
    return Option(name, Arg((value,), tuple(dotted(origin) for origin in origins)), origins)


def serving_option(settings: Settings, name: str, flag: str) -> tuple[Option, ...]:
    """The engine's flag for `memory_fraction` or `log_level` of the serving dialect, if they were stated."""
    value: str | None = getattr(settings.server, name)
    return () if value is None else (option(flag, value, origins=[("roles", "server", name)], free=True),)


def compose(layout: Layout, given: Sequence[Given], models_dir: str) -> tuple[Arg, ...]:
    """One argv. Assumes that the arguments were checked: where the user repeats a flag of ours, ours stands."""
    ours = {entry.name for entry in layout.head}
    rest = [entry for entry in given if entry.flag is None or entry.flag.name not in ours]
    args = [Arg((word,)) for word in layout.program]
    args += [_credited(entry.arg, [said for said in given if _names(said, entry)]) for entry in layout.head]
    for default in layout.leading:
        said = [entry for entry in rest if _names(entry, default)]
        rest = [entry for entry in rest if not _names(entry, default)]
        args += _default(default, said) or [_arg(entry, models_dir) for entry in said if entry.words]
    once = {entry.name for entry in layout.fixed}
    written: set[str] = set()
    for entry in rest:
        name = entry.flag.name if entry.flag else ""
        if entry.words and name not in written:
            args.append(_arg(entry, models_dir))
            written |= {name} & once
    for default in layout.trailing:
        args += _default(default, [entry for entry in rest if _names(entry, default)])
    return tuple(args)


def _names(given: Given, default: Option) -> bool:
    return given.flag is not None and given.flag.name == default.name


def _credited(arg: Arg, repeated: Sequence[Given]) -> Arg:
    """Our flag, with the places where the user gave it too."""
    places = (dotted(entry.path) for entry in repeated if entry.words)
    return Arg(arg.tokens, tuple(dict.fromkeys((*arg.sources, *places))))


def _default(default: Option, said: Sequence[Given]) -> list[Arg]:
    """Our default, unless the user wrote the flag or switched this very form of it off."""
    settled = any(entry.words or (entry.flag and entry.flag.negated == default.negated) for entry in said)
    return [] if settled else [default.arg]


def _arg(given: Given, models_dir: str) -> Arg:
    return Arg(tuple(located(word, models_dir) for word in given.words), (dotted(given.path),))
