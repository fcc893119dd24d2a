"""Plans to and from their JSON document: canonical bytes, digest, seal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import evolve
from cattrs import Converter
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn
from cattrs.v import transform_error

from .meaning import meaning
from .plan import PLAN_VERSION, Plan
from .tokens import Binding, Template, Token

__all__ = ["PlanError", "as_document", "dump_plan", "load_plan", "seal_plan"]


class PlanError(ValueError):
    """A text that is no plan of ours, or one that was changed. `hint` names the next thing to try."""

    def __init__(self, message: str, hint: str = "compile it again with atomcfg plan") -> None:
        super().__init__(message)
        self.hint = hint


def as_document(plan: Plan) -> dict[str, Any]:
    """The plan in its JSON form. A token is a text, or `{"parts": [text | {"bind": name, "value": text}]}`."""
    document: dict[str, Any] = _converter().unstructure(plan)
    return document


def seal_plan(plan: Plan) -> Plan:
    """The plan with its digest (over what executes and judges) and its seal (over the whole document)."""
    document = as_document(plan)
    digest = _hash(meaning(document))
    seal = _hash({**document, "digest": digest, "seal": ""})
    return evolve(plan, digest=digest, seal=seal)


def dump_plan(plan: Plan) -> str:
    """The plan's text: the same plan gives the same bytes."""
    return _canonical(as_document(plan)) + "\n"


def load_plan(text: str) -> Plan:
    """The plan of a text that `dump_plan` wrote, verified by version and seal. Raises `PlanError`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"not a plan: {error}") from None
    if not isinstance(document, dict) or "plan_version" not in document:
        raise PlanError("not a plan: there is no plan_version")
    version = document["plan_version"]
    if version != PLAN_VERSION:
        raise PlanError(f"plan version {version!r}, this program reads version {PLAN_VERSION}")
    if document.get("seal") != _hash({**document, "seal": ""}) or text != _canonical(document) + "\n":
        raise PlanError("the plan was changed after it was written: its seal does not fit")
    try:
        return _converter().structure(document, Plan)
    except BaseValidationError as error:
        raise PlanError(f"not a plan: {'; '.join(transform_error(error, path='plan')[:3])}") from None


def _canonical(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _hash(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(document).encode("ascii")).hexdigest()


@cache
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    converter.register_unstructure_hook(Template, _unstructure_template)
    converter.register_unstructure_hook(Token, _unstructure_token)
    converter.register_structure_hook(Token, _structure_token)
    converter.register_unstructure_hook(Token | None, _unstructure_token)
    converter.register_structure_hook(Token | None, _structure_optional)
    for scalar in (str, int, float, bool):
        converter.register_structure_hook(scalar, _strict)
    converter.register_structure_hook(Plan, make_dict_structure_fn(Plan, converter, _cattrs_forbid_extra_keys=True))
    return converter


def _strict(value: Any, kind: type) -> Any:
    """No conversions: a plan's document has exactly the types that were written."""
    fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if kind is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return float(value) if kind is float else value


def _unstructure_token(token: Any) -> Any:
    return _unstructure_template(token) if isinstance(token, Template) else token


def _unstructure_template(token: Template) -> dict[str, Any]:
    return {"parts": [part if isinstance(part, str) else _unstructure_binding(part) for part in token.parts]}


def _unstructure_binding(part: Binding) -> dict[str, str]:
    return {"bind": part.name} if part.value is None else {"bind": part.name, "value": part.value}


def _structure_optional(value: Any, kind: Any) -> Token | None:
    return None if value is None else _structure_token(value, kind)


def _structure_token(value: Any, _kind: Any) -> Token:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"parts"} and isinstance(value["parts"], list):
        return Template(tuple(_structure_part(part) for part in value["parts"]))
    raise TypeError(f"expected a token, found {type(value).__name__}")


def _structure_part(part: Any) -> str | Binding:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and set(part) <= {"bind", "value"} and isinstance(part.get("bind"), str):
        value = part.get("value")
        if value is None or isinstance(value, str):
            return Binding(part["bind"], value)
    raise TypeError("expected text or a binding")
