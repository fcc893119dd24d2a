"""`report.json`: a run's identity, measurements and comparison panels, for other programs and for later runs.

`schemas/report.schema.json` is its shape. It is what `--prev`, `--parity` and `atomrun compare` read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import cattrs

from atomrun.comparison import Panel, Sheet

__all__ = ["document"]

_CONVERTER = cattrs.Converter()
_OTHER = ("run_id", "started_at", "stem", "profile", "driver", "arch", "plan_digest", "image", "verdict")


def document(sheet: Sheet, panels: Iterable[Panel]) -> str:
    """The text of a report, with a line feed at its end."""
    content: dict[str, Any] = _CONVERTER.unstructure(sheet)
    content["panels"] = {panel.name: _panel(panel) for panel in panels}
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"


def _panel(panel: Panel) -> dict[str, Any]:
    """The other run by its identity only: its measurements are in the rows."""
    content: dict[str, Any] = _CONVERTER.unstructure(panel)
    other = content.pop("other")
    return {**content, "other": None if other is None else {name: other[name] for name in _OTHER}}
