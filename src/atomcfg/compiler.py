"""The passes, in order. Read this first.

Each takes the value of the one before it and returns a `Checked`: a value, and what it found. A pass reports all
its faults; the next runs only if there were no errors. The types forbid any other order.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, field, frozen

from .cellkey import CellKey
from .diagnostics import Checked, Diagnostic, Severity, ordered
from .dialect import PROFILES, dialect_of
from .passes.bind import bind
from .passes.build import build
from .passes.complete import complete
from .passes.enlist import enlist
from .passes.expand import expand
from .passes.govern import govern
from .passes.lower import lower
from .passes.normalise import normalise
from .passes.read import read
from .passes.resolve import resolve
from .passes.settle import settle
from .passes.states import Bound, Expanded, Flat, Parsed
from .passes.unused import unused
from .passes.validate import validate
from .plan import Plan
from .planio import seal_plan
from .secrecy import find_secrets, masked
from .sources import Options, Sources
from .uncollected import uncollected

__all__ = ["Result", "compile_sources"]


@frozen
class Result:
    """A compilation: the plan, unless there were errors, and everything that was found, sorted by place.

    `text` is the plan as `dump_plan` writes it: its seal is taken over it, so it is there anyway.
    """

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    text: str = field(default="", repr=False)

    @property
    def ok(self) -> bool:
        return self.plan is not None


@uncollected()
def compile_sources(sources: Sources, options: Options) -> Result:
    """Texts to a sealed plan, or to diagnostics, in which no secret is shown."""
    settled = read(sources, options).then(settle)
    result = _compiled(settled.then(validate), options)
    documents = (settled.value.config, settled.value.cluster) if settled.value else ()
    secrets = [secret for document in documents if document for _, secret in find_secrets(document)]
    return evolve(result, diagnostics=tuple(masked(item, secrets) for item in result.diagnostics))


def _compiled(parsed: Checked[Parsed], options: Options) -> Result:
    if parsed.value is None:
        return Result(None, ordered(parsed.diagnostics))
    chosen = normalise(parsed.value)
    expanded = chosen.then(_to_cells)
    siblings = _siblings(parsed.value, chosen.value, options)
    keys = frozenset(key for keys, _ in siblings for key in keys)
    bound = expanded.then(lambda cells: _to_gates(cells, keys))
    plan = Checked[Plan](None, bound.then(unused).diagnostics) if options.every_profile else bound.then(lower)
    others = [item for _, items in siblings for item in items]
    found = [*parsed.diagnostics, *plan.diagnostics, *_beside(others, plan.diagnostics, options)]
    failed = any(item.severity is Severity.ERROR for item in found)
    if failed or plan.value is None:
        return Result(None, ordered(found))
    sealed, text = seal_plan(plan.value)
    return Result(sealed, ordered(found), text)


def _to_cells(flat: Flat) -> Checked[Expanded]:
    return complete(flat).then(resolve).then(enlist).then(build).then(govern).then(expand)


def _to_gates(expanded: Expanded, siblings: frozenset[CellKey]) -> Checked[Bound]:
    return bind(evolve(expanded, sibling_keys=siblings))


def _siblings(
    parsed: Parsed, chosen: Flat | None, options: Options
) -> list[tuple[list[CellKey], tuple[Diagnostic, ...]]]:
    """Cell keys and findings of the profiles that were not chosen: a file is right or wrong as a whole."""
    profiles = parsed.config.get("profiles")
    if chosen is None or dialect_of(parsed.config.value) != PROFILES or not isinstance(profiles, dict):
        return []
    names = [name for name in profiles if name != chosen.profile and not name.startswith("_")]
    return [_sibling(parsed, name, options) for name in names]


def _sibling(parsed: Parsed, name: str, options: Options) -> tuple[list[CellKey], tuple[Diagnostic, ...]]:
    expanded = normalise(parsed, name).then(_to_cells)
    keys = [cell.key for cell in expanded.value.cells] if expanded.value else []
    checked = expanded.then(lambda cells: _to_gates(cells, frozenset()))
    if options.every_profile:  # what it finds are warnings, which are not shown otherwise
        checked = checked.then(unused)
    marked = tuple(evolve(item, summary=f"in profile {name}: {item.summary}") for item in checked.diagnostics)
    return keys, marked


def _beside(others: Iterable[Diagnostic], known: Iterable[Diagnostic], options: Options) -> list[Diagnostic]:
    """Errors of profiles that were not chosen, as warnings unless all are asked for; what is known stays once."""
    seen = {(item.code, item.span) for item in known}
    kept = [item for item in others if (item.code, item.span) not in seen]
    if options.every_profile:
        return kept
    return [evolve(item, severity=Severity.WARNING) for item in kept if item.severity is Severity.ERROR]
