"""The table that lm-eval prints: Markdown, numbers with as many decimals as their column needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from standin.dialect import Json

__all__ = ["render"]

_HEADERS = ("Version", "Filter", "n-shot", "Metric", "", "Value", "", "Stderr")
_NUMERIC = {1, 3, 6, 8}
_LEAST_WIDTH = 3
_NOTHING = "N/A"


def render(document: Mapping[str, Json], column: str) -> str:
    """The table of `results` or of `groups`."""
    rows = [row for key, depth in _order(document, column) for row in _rows(document, column, key, depth)]
    headers = ("Groups" if column == "groups" else "Tasks", *_HEADERS)
    columns = [_column(index, [row[index] for row in rows]) for index in range(len(headers))]
    widths = [
        max(_LEAST_WIDTH, len(header), *map(len, cells)) for header, cells in zip(headers, columns, strict=True)
    ]
    # A column with a text in it is set left, but its cells stay where they are.
    right = [
        index in _NUMERIC and not (index == 8 and any("N/A" in cell for cell in columns[8])) for index in range(9)
    ]
    lines = [
        "|".join(f"{header:^{width}}" for header, width in zip(headers, widths, strict=True)),
        "|".join("-" * (width - 1) + (":" if flag else "-") for width, flag in zip(widths, right, strict=True)),
    ]
    for row in zip(*columns, strict=True):
        cells = [
            cell.rjust(width) if index in _NUMERIC else cell.ljust(width)
            for index, (cell, width) in _pairs(row, widths)
        ]
        lines.append("|".join(cells))
    return "".join(f"|{line}|\n" for line in lines)


def _pairs(row: Sequence[str], widths: Sequence[int]) -> list[tuple[int, tuple[str, int]]]:
    return list(enumerate(zip(row, widths, strict=True)))


def _order(document: Mapping[str, Json], column: str) -> list[tuple[str, int]]:
    """Groups first, each with its tasks below it, then the rest."""
    members = document.get("group_subtasks", {})
    listed = document[column]
    inside = {task for tasks in members.values() for task in tasks}
    keys: list[tuple[str, int]] = []
    for name in sorted(members):
        keys += [(name, 0), *((task, 1) for task in members[name])]
    keys += [(name, 0) for name in sorted(listed) if name not in inside and name not in members]
    return [(name, depth) for name, depth in keys if name in listed]


def _rows(document: Mapping[str, Json], column: str, key: str, depth: int) -> list[list[str]]:
    fields = document[column][key]
    name = (" " * depth + "- " if depth else "") + str(fields["alias"])
    version, shots = str(document["versions"].get(key, _NOTHING)), str(document["n-shot"].get(key, ""))
    rows = []
    for entry in sorted(fields):
        metric, comma, filter_name = entry.partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        error = fields.get(f"{metric}_stderr,{filter_name}", _NOTHING)
        shown = error if isinstance(error, str) else f"{error:.4f}"
        value = fields[entry]
        number = f"{value:.4f}" if isinstance(value, float) else str(value)
        rows.append([name, version, filter_name, shots, metric, "↑", number, "±", shown])
        name = version = ""
    return rows


def _column(index: int, cells: list[str]) -> list[str]:
    if index not in _NUMERIC:
        return cells
    decimals = max((_decimals(cell) for cell in cells), default=0)
    return [f"{float(cell):.{decimals}f}" if _is_number(cell) else cell for cell in cells]


def _decimals(cell: str) -> int:
    return len(cell.rstrip("0").partition(".")[2]) if _is_number(cell) else 0


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdigit()
