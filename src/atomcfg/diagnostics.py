"""Diagnostics are values: a pass returns them beside its result, the edge renders them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Generic, TypeVar

from attrs import evolve, field, frozen

from .value import Value

__all__ = ["Checked", "Diagnostic", "Diagnostics", "Related", "Severity", "Span"]

T = TypeVar("T")
U = TypeVar("U")


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@frozen(eq=False, repr=False)
class Span(Value):
    """A place in an input. Lines and columns count from 1; 0 means the file as a whole."""

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0
    path: str = ""  # dotted, from the document's root
    text: str = ""  # the offending line


@frozen(eq=False, repr=False)
class Related(Value):
    """Another place that explains a diagnostic (the first of two duplicate keys, say)."""

    message: str
    span: Span


@frozen(eq=False, repr=False)
class Diagnostic(Value):
    """One fault, stated once, with what to do about it."""

    code: str
    severity: Severity
    summary: str
    span: Span
    hint: str = ""
    related: tuple[Related, ...] = ()


class Diagnostics:
    """The collector of one pass: reports accumulate, nothing is raised."""

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []

    def add(
        self,
        code: str,
        severity: Severity,
        summary: str,
        span: Span,
        hint: str = "",
        related: Iterable[Related] = (),
    ) -> None:
        self._items.append(Diagnostic(code, severity, summary, span, hint, tuple(related)))

    def error(self, code: str, summary: str, span: Span, hint: str = "", related: Iterable[Related] = ()) -> None:
        self.add(code, Severity.ERROR, summary, span, hint, related)

    def warning(self, code: str, summary: str, span: Span, hint: str = "", related: Iterable[Related] = ()) -> None:
        self.add(code, Severity.WARNING, summary, span, hint, related)

    def note(self, code: str, summary: str, span: Span, hint: str = "", related: Iterable[Related] = ()) -> None:
        self.add(code, Severity.NOTE, summary, span, hint, related)

    def extend(self, items: Iterable[Diagnostic]) -> None:
        self._items.extend(items)

    @property
    def items(self) -> tuple[Diagnostic, ...]:
        return tuple(self._items)

    @property
    def has_errors(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self._items)


@frozen(eq=False, repr=False)
class Checked(Generic[T]):
    """What a pass returns: a value, or none if it found errors, and all that it found."""

    value: T | None
    diagnostics: tuple[Diagnostic, ...] = field(default=())

    def then(self, step: Callable[[T], Checked[U]]) -> Checked[U]:
        """Run the next pass, unless this one found errors."""
        if self.value is None:
            return Checked(None, self.diagnostics)
        following = step(self.value)
        return evolve(following, diagnostics=self.diagnostics + following.diagnostics)

    @classmethod
    def of(cls, value: T, found: Diagnostics) -> Checked[T]:
        """`value`, unless `found` holds an error."""
        return cls(None if found.has_errors else value, found.items)


def ordered(items: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sorted by file and position, each once."""
    unique = dict.fromkeys(items)
    return tuple(
        sorted(
            unique,
            key=lambda item: (item.span.file, item.span.line, item.span.column, item.code, item.summary),
        )
    )
