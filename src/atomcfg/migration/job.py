"""What there is to migrate: configs that compile, and the threshold files that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve, frozen

from atomcfg.compiler import compile_sources
from atomcfg.diagnostics import Checked, Diagnostics, Severity, ordered
from atomcfg.dialect import PROFILES, dialect_of
from atomcfg.documents import Source
from atomcfg.plan import Plan
from atomcfg.pretty import parse
from atomcfg.sources import Options, Sources
from atomcfg.standalone import check_alone

__all__ = ["Job", "Path", "Table", "load_job", "load_table", "put"]

Path = tuple[str, ...]
_HEAD = ("$schema", "_comment", "schema_version", "framework", "gpu_arch", "default_profile", "enforce_thresholds")


@frozen
class Table:
    """A threshold file on its way."""

    source: Source
    value: dict[str, object]
    changes: tuple[str, ...] = ()

    def with_value(self, value: dict[str, object], *changes: str) -> Table:
        return evolve(self, value=value, changes=(*self.changes, *changes))


@frozen
class Job:
    """A config on its way.

    `plans` has the compiled plan of each profile (`perf` for a file without profiles), `tables` the threshold files
    by the name that the config gives them: the names of their sources.
    """

    config: Source
    plans: Mapping[str, Plan]
    tables: Mapping[str, str]
    value: dict[str, object]
    changes: tuple[str, ...] = ()

    def with_value(self, value: dict[str, object], *changes: str) -> Job:
        return evolve(self, value=value, changes=(*self.changes, *changes))

    @property
    def bodies(self) -> Mapping[Path, dict[str, object]]:
        """The objects that may hold cells and a `threshold_json`, by path: the top level and each profile."""
        profiles = self.value.get("profiles")
        named = profiles.items() if isinstance(profiles, dict) else ()
        inner: dict[Path, dict[str, object]] = {
            ("profiles", name): body for name, body in named if isinstance(body, dict) and name[:1] != "_"
        }
        return {(): self.value, **inner}

    def place(self, profile: str, tables: Mapping[str, Table]) -> tuple[Table, Path] | None:
        """The threshold file of a profile, and the path of its bounds in there; None if there is no such file."""
        own = self.bodies.get(("profiles", profile), {})
        name = self.tables.get(str(own.get("threshold_json", self.value.get("threshold_json"))))
        if name is None:
            return None
        table = tables[name]
        if not isinstance(table.value.get("profiles"), dict):
            return table, ()
        return table, ("profiles", str(own.get("threshold_profile", profile)))


def put(value: Mapping[str, object], path: Path, new: object) -> dict[str, object]:
    """`value` with `new` at `path`, all of whose objects but the last exist."""
    if len(path) == 1:
        return {**value, path[0]: new}
    inner = value[path[0]]
    assert isinstance(inner, dict)
    return {**value, path[0]: put(inner, path[1:], new)}


def load_job(sources: Sources, user: str) -> Checked[tuple[Job, tuple[Table, ...]]]:
    """A config that compiles in each of its profiles, and its threshold files; else the errors.

    What a lab must still supply may be open.
    """
    options = [Options(name, user=user, dry_run=True) for name in _profiles(sources.config)]
    results = [compile_sources(sources, each) for each in options]
    found = ordered(item for result in results for item in result.diagnostics if item.severity is Severity.ERROR)
    if found:
        return Checked(None, found)
    plans = {result.plan.profile: result.plan for result in results if result.plan is not None}
    value = parse(sources.config.data)
    known = {source.reached_as: source for source in sources.thresholds}
    used = {name: known[name] for name in _named(value, sources.siblings) if name in known}
    job = Job(sources.config, plans, {name: source.name for name, source in used.items()}, value)
    if value.get("threshold_json") is None and len(sources.siblings) == 1 and sources.siblings[0] in used:
        job = job.with_value(
            _stating(value, sources.siblings[0]), f"names its threshold file: {sources.siblings[0]}"
        )
    return Checked((job, tuple(Table(source, parse(source.data)) for source in used.values())))


def load_table(source: Source) -> Checked[Table]:
    """A threshold file by itself."""
    found = Diagnostics()
    found.extend(item for item in check_alone(source) if item.severity is Severity.ERROR)
    return Checked(None, found.items) if found.has_errors else Checked(Table(source, parse(source.data)))


def _profiles(config: Source) -> Iterable[str | None]:
    """The profiles of a text. None stands for the implicit one; the compiler says what is wrong with any other."""
    try:
        value = parse(config.data)
    except (ValueError, RecursionError):
        return (None,)
    profiles = value.get("profiles")
    if dialect_of(value) != PROFILES or not isinstance(profiles, dict):
        return (None,)
    return [name for name in profiles if not name.startswith("_")] or (None,)


def _named(value: Mapping[str, object], siblings: tuple[str, ...]) -> Iterator[str]:
    """The threshold files that a config reaches."""
    profiles = value.get("profiles")
    bodies = [value, *(profiles.values() if isinstance(profiles, dict) else ())]
    for body in bodies:
        name = body.get("threshold_json") if isinstance(body, dict) else None
        if isinstance(name, str):
            yield name
    if value.get("threshold_json") is None and len(siblings) == 1:
        yield siblings[0]


def _stating(value: Mapping[str, object], name: str) -> dict[str, object]:
    """`value` with `threshold_json` where readers look for it."""
    head = {key: item for key, item in value.items() if key in _HEAD}
    return {**head, "threshold_json": name, **{key: item for key, item in value.items() if key not in _HEAD}}
