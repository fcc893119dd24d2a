"""Read a plan file, or say what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from atomcfg.plan import Plan
from atomcfg.planio import PlanError, load_plan

from .output import complain

__all__ = ["read_plan"]


def read_plan(name: str) -> Plan | int:
    """The plan of a file, or the exit status after a complaint."""
    try:
        return load_plan(Path(name).read_text("utf-8"))
    except OSError as error:
        return complain(
            f"cannot read {name}: {error.strerror or error}", "atomcfg plan CONFIG -o plan.json writes one"
        )
    except PlanError as error:
        return complain(f"{name}: {error}", error.hint)
    except ValueError:
        return complain(f"{name} is not a plan: it is not UTF-8")
