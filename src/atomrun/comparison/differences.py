"""What differs between two runs besides their numbers, and when setting them side by side means nothing."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from .sheet import Sheet

__all__ = ["ENVIRONMENT", "Difference", "differences", "same_run", "unequal"]


@frozen
class Difference:
    """One property, and what it is on each side."""

    what: str
    ours: str
    theirs: str


ENVIRONMENT = ("model", "driver", "arch", "gpus", "transport")
"""Properties that make numbers incomparable, unless the reader asks for just that."""


def differences(ours: Sheet, theirs: Sheet) -> tuple[Difference, ...]:
    """Everything that two runs do not share, the environment first."""
    pairs = zip(_properties(ours), _properties(theirs), strict=True)
    return tuple(Difference(name, mine, other) for (name, mine), (_, other) in pairs if mine != other)


def _properties(sheet: Sheet) -> list[tuple[str, str]]:
    return [
        ("model", sheet.model),
        ("driver", sheet.driver),
        ("arch", sheet.arch),
        ("gpus", str(sheet.gpus)),
        ("transport", sheet.transport),
        ("image", sheet.image),
        ("image digest", ", ".join(sheet.image_digests)),
        ("ROCm", sheet.versions.get("rocm", "")),
        ("GPU driver", sheet.versions.get("gpu_driver", "")),
        ("hosts", ", ".join(sheet.hosts)),
        ("config", f"{sheet.stem} ({sheet.profile})"),
        ("plan", sheet.plan_digest[:12]),
    ]


def same_run(ours: Sheet, theirs: Sheet) -> str:
    """Why the two are one run; "" if they are two."""
    return f"{ours.run_id} would be compared with itself" if ours.run_id == theirs.run_id else ""


def unequal(ours: Sheet, theirs: Sheet, ignoring: Iterable[str] = ()) -> tuple[Difference, ...]:
    """The differences of environment that are not in `ignoring`."""
    asked = [name for name in ENVIRONMENT if name not in set(ignoring)]
    return tuple(item for item in differences(ours, theirs) if item.what in asked)
