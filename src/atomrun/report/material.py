"""What a report shows besides the result: ends of logs, what the GPU polls saw, comparisons. Read from a run's
folder, so that a report can be drawn again later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from atomrun.comparison import (
    Panel,
    Sheet,
    SheetError,
    accuracy_prev_run,
    framework_parity,
    load_sheet,
    prev_run,
)
from atomrun.firsterror import first_error, tail
from atomrun.gpu import Sample, parse_poll

__all__ = ["Material", "References", "gather"]

_LOGS = 24
_LINES = 100
_SIBLING = "prev_report.json"


@frozen
class References:
    """Files named for the comparison panels; "" for none. Without `prev`, a `prev_report.json` in the run's folder
    or beside it is taken."""

    prev: str = ""
    parity: str = ""


@frozen
class Material:
    """`logs` by title, the first error first; `polls` by session and node."""

    logs: Mapping[str, str] = field(factory=dict)
    polls: Mapping[str, tuple[Sample, ...]] = field(factory=dict)
    panels: tuple[Panel, ...] = ()


def gather(run_dir: Path, sheet: Sheet, references: References) -> Material:
    """Everything in `run_dir` is already redacted."""
    return Material(_logs(run_dir), _polls(run_dir), _panels(run_dir, sheet, references))


def _logs(run_dir: Path) -> dict[str, str]:
    """The ends of the logs by name, and before them the first error, with its file."""
    ends: dict[str, str] = {}
    first: dict[str, str] = {}
    paths = [path for path in sorted(run_dir.glob("logs/*.log")) if not path.name.startswith("gpu-")]
    for path in paths[:_LOGS]:
        text = path.read_text("utf-8", "replace")
        if text.strip():
            ends[path.name] = tail(text, _LINES)
        cause = first_error(text)
        if cause and not first:
            first[f"first error, in {path.name}"] = cause
    return {**first, **ends}


def _polls(run_dir: Path) -> dict[str, tuple[Sample, ...]]:
    found = {}
    for path in sorted(run_dir.glob("logs/gpu-*.log")):
        samples = parse_poll(path.read_text("utf-8", "replace"))
        if samples:
            found[path.name.removeprefix("gpu-").removesuffix(".log")] = samples
    return found


def _panels(run_dir: Path, sheet: Sheet, references: References) -> tuple[Panel, ...]:
    siblings = [folder / _SIBLING for folder in (run_dir, run_dir.parent)]
    prev = references.prev or next((str(path) for path in siblings if path.is_file()), "")
    earlier = _read(prev)
    return (
        prev_run(sheet, earlier, prev),
        accuracy_prev_run(sheet, earlier, prev),
        framework_parity(sheet, _read(references.parity), references.parity),
    )


def _read(name: str) -> Sheet | str | None:
    """The sheet in a file or in a run's folder, or why it cannot be read: that fails no run."""
    if not name:
        return None
    path = Path(name)
    path = path / "report.json" if path.is_dir() else path
    try:
        return load_sheet(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        return f"cannot read {path}: {error.strerror if isinstance(error, OSError) else 'not UTF-8'}"
    except SheetError as error:
        return f"{path}: {error}"
