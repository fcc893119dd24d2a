"""Plans to and from their JSON document: canonical bytes, digest, seal."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from attrs import evolve

from .meaning import meaning
from .packing import canonical, pack
from .plan import PLAN_VERSION, Plan

__all__ = ["PlanError", "as_document", "dump_plan", "load_plan", "seal_plan"]


class PlanError(ValueError):
    """A text that is no plan of ours, or one that was changed. `hint` names the next thing to try."""

    def __init__(self, message: str, hint: str = "compile it again with atomcfg plan") -> None:
        super().__init__(message)
        self.hint = hint


def as_document(plan: Plan) -> dict[str, Any]:
    """The plan in its JSON form, as `schemas/plan.schema.json` describes it."""
    return pack(plan)


def seal_plan(plan: Plan) -> tuple[Plan, str]:
    """The plan with its digest (over what executes and judges) and its seal (over the whole document); its text."""
    document = pack(plan)
    document["digest"] = _hash(canonical(meaning(document)))
    document["seal"] = ""
    bare = canonical(document)
    seal = _hash(bare)
    return evolve(plan, digest=document["digest"], seal=seal), bare.replace(_NO_SEAL, _sealed_by(seal)) + "\n"


def dump_plan(plan: Plan) -> str:
    """The plan's text: the same plan gives the same bytes."""
    return canonical(pack(plan)) + "\n"


def load_plan(text: str) -> Plan:
    """The plan of a text that `dump_plan` wrote, verified by version and seal. Raises `PlanError`."""
    from .unpacking import unpack  # here, because only reading needs the converter

    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"not a plan: {error}") from None
    if not isinstance(document, dict) or "plan_version" not in document:
        raise PlanError("not a plan: there is no plan_version")
    version = document["plan_version"]
    if version != PLAN_VERSION:
        raise PlanError(f"plan version {version!r}, this program reads version {PLAN_VERSION}")
    if not _is_sealed(document, text):
        raise PlanError("the plan was changed after it was written: its seal does not fit")
    try:
        return unpack(document)
    except ValueError as error:
        raise PlanError(f"not a plan: {error}") from None


def _is_sealed(document: dict[str, Any], text: str) -> bool:
    """Whether a text is the canonical one of its document, and the seal is that of the text without it."""
    bare = text.removesuffix("\n").replace(_sealed_by(document.get("seal")), _NO_SEAL)
    try:
        known = canonical(document) + "\n" == text
    except ValueError:  # a number that JSON does not have
        return False
    return known and document.get("seal") == _hash(bare)


def _sealed_by(seal: object) -> str:
    """How the seal is written: once, since a quotation mark inside a text has a backslash before it."""
    return f'"seal":{json.dumps(seal)}'


_NO_SEAL = _sealed_by("")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
