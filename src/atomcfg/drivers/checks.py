"""Checks of the user's arguments for one program: each faulty flag is reported once, where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from atomcfg.diagnostics import Diagnostics, Related, Span
from atomcfg.documents import Document
from atomcfg.suggest import did_you_mean

from .counterparts import Concept, Values, foreign
from .flags import FlagName, FlagTable, Given, count_of, same_value
from .layout import Layout, Option

__all__ = ["Program", "check_arguments"]


@frozen(eq=False, repr=False)
class Program:
    """A program that a driver starts, as far as checks must know it. `engine` is its column in `concepts`."""

    title: str  # "ATOM's server"
    engine: str
    table: FlagTable
    concepts: tuple[Concept, ...]
    values: Values
    counts: frozenset[str] = frozenset()  # flags whose value the plan counts with


def check_arguments(
    program: Program, given: Sequence[Given], layouts: Sequence[Layout], document: Document, found: Diagnostics
) -> None:
    """Report every fault of `given`. `layouts` are the commands it goes into, one a rank or cell."""
    written = [entry for entry in given if entry.words]
    for entry in written:
        span = _flag_span(document, entry)
        if entry.flag is None:
            found.error("A508", f'"{entry.value}" belongs to no flag', span, "a flag starts with a dash")
        elif not _is_ours(entry, entry.flag, layouts, document, found):
            _check_name(program, entry, entry.flag, document, found)
            _check_value(program, entry, entry.flag, _value_span(document, entry), found)
    _check_pairs(written, {option.name for layout in layouts for option in layout.fixed}, document, found)


def _is_ours(
    entry: Given, flag: FlagName, layouts: Sequence[Layout], document: Document, found: Diagnostics
) -> bool:
    """Is it a flag that the driver decides? Then it must say the same in every command."""
    for layout in layouts:
        if flag.name in layout.refused:
            span = _flag_span(document, entry)
            found.error("A501", f"{entry.option} may not be given: {layout.refused[flag.name]}", span, "remove it")
            return True
    fixed = [option for layout in layouts for option in layout.fixed if option.name == flag.name]
    for option in fixed:
        if flag.negated or not same_value(entry.value, option.value):
            _report_conflict(entry, option, document, found)
            break
    return bool(fixed)


def _report_conflict(entry: Given, option: Option, document: Document, found: Diagnostics) -> None:
    given = f"{entry.option} is {entry.value}" if entry.values else f"{entry.option} is given"
    if not option.origins:
        ours = f"{option.flag} {option.value}".rstrip()
        found.error("A500", f"{given}, but the driver writes {ours}", _value_span(document, entry), "remove it")
        return
    settings = " and ".join(document.called(*origin) for origin in option.origins)
    stated = f"{settings} {'is' if len(option.origins) == 1 else 'make it'} {option.value}"
    if all(document.get(*origin) is None for origin in option.origins):
        stated += " by default"
    related = [Related(stated, document.span(option.origins[0]))]
    hint = f"write it in one place only, {settings}"
    found.error("A500", f"{given}, but {stated}", _value_span(document, entry), hint, related)


def _check_name(program: Program, entry: Given, flag: FlagName, document: Document, found: Diagnostics) -> None:
    span = _flag_span(document, entry)
    concept = None if program.table.exact(entry.option) else foreign(program.concepts, program.engine, entry.option)
    if concept is not None:
        hint = _proposal(concept, program.engine, document)
        found.error("A502", f"{entry.option} is another engine's flag, not one of {program.title}", span, hint)
    elif not flag.listed:
        spellings = [spelling for spelling in program.table.spellings if spelling.startswith("--")]
        hint = did_you_mean(entry.option, spellings) or "the program itself is asked before it is started"
        found.warning("A506", f"{program.title} is not known to take {entry.option}", span, hint)


def _proposal(concept: Concept, engine: str, document: Document) -> str:
    names = concept.names[engine]
    called = f"here it is {names[0]}" if names else ""
    decided = f"{document.called(*concept.setting.split('.'))} decides it" if concept.setting else ""
    return ", and ".join(part for part in (called, decided) if part) or "nothing here is like it; remove it"


def _check_value(program: Program, entry: Given, flag: FlagName, span: Span, found: Diagnostics) -> None:
    if flag.name in program.counts and count_of([entry], flag.name) is None:
        found.error(
            "A517", f"{entry.option} {entry.value} is no whole number from 1", span, "the plan counts GPUs with it"
        )
    known = program.values[program.engine].get(flag.name, ())
    if not known or not entry.values or entry.values[0] in known:
        return
    value, hint = entry.values[0], f"one of {', '.join(known)}"
    others = [flags.get(flag.name, ()) for engine, flags in program.values.items() if engine != program.engine]
    if any(value in listed for listed in others):
        found.error("A504", f"{entry.option} {value} is another engine's value", span, hint)
    else:
        found.warning("A505", f"{program.title} is not known to take {entry.option} {value}", span, hint)


def _check_pairs(written: Sequence[Given], fixed: set[str], document: Document, found: Diagnostics) -> None:
    """`--x` with `--no-x`, and one flag with two values."""
    first: dict[str, Given] = {}
    for entry in written:
        if entry.flag is None:
            continue
        earlier = first.setdefault(entry.flag.name, entry)
        if earlier is entry or earlier.flag is None:
            continue
        related = [Related(f"{earlier.option} stands here", _flag_span(document, earlier))]
        span = _flag_span(document, entry)
        if earlier.flag.negated != entry.flag.negated:
            summary = f"{entry.option} contradicts {earlier.option}"
            found.error("A503", summary, span, "keep one of them", related)
        elif entry.flag.name not in fixed and earlier.values != entry.values:
            summary = f"{entry.option} is given twice, with {earlier.value} and {entry.value}"
            found.warning("A507", summary, span, "the program keeps the last one; keep one of them", related)


def _flag_span(document: Document, entry: Given) -> Span:
    return document.span(entry.path, key=_is_key(entry))


def _value_span(document: Document, entry: Given) -> Span:
    last = entry.path[-1]
    if isinstance(last, int) and len(entry.words) > 1:
        return document.span((*entry.path[:-1], last + 1))
    return document.span(entry.path)


def _is_key(entry: Given) -> bool:
    """Is the flag the key of an object, rather than a word of a list or a text?"""
    last = entry.path[-1]
    return isinstance(last, str) and last.lstrip("-") == entry.option.lstrip("-")
