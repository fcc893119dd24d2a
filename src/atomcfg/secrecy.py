"""Secrets that stand in a file: found, and kept out of everything that is printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from attrs import evolve

from .diagnostics import Diagnostic, Diagnostics, Related, Span
from .documents import Document, JsonPath, dotted

__all__ = ["find_secrets", "masked", "report_secrets"]

_WORD = r"(?:TOKEN|SECRET|PASSWORD|PASSWD|API[_-]?KEY)"
_VARIABLE = re.compile(rf"(?:\w*_)?{_WORD}", re.IGNORECASE)
_FLAG = re.compile(rf"--?(?:(?:hf|auth|api|access|hub)[_-])?{_WORD}", re.IGNORECASE)
_TOKEN = re.compile(r"hf_[A-Za-z0-9]{16,}")
_ASSIGNED = re.compile(rf"{_WORD}=([^\s'\"]+)", re.IGNORECASE)  # `-e NAME=value`, `--flag=value`
# A member of JSON or TOML, or the begin of one in a text that is neither.
_MEMBER = re.compile(
    rf"{_WORD}[\"']?\s*[:=]\s*(?:\"((?:[^\"\\]|\\.)+)|'((?:[^'\\]|\\.)+)|([^\s\"',{{}}\[\]]+))", re.IGNORECASE
)
_ENVIRONMENTS = ("env", "env_vars")
_LISTS = ("atom_args", "sglang_args", "add_flags", "extra_args")
_TEXTS = ("bench_extra_args",)
_SHORTEST = 4  # a text that is shorter hides nothing, and may be a part of any word


def find_secrets(document: Document) -> Iterator[tuple[JsonPath, str]]:
    """Every place that holds a secret, with the secret: by the name of a variable or flag, or by its own form."""
    yield from _walk(document.value, (), "")


def _walk(value: object, path: JsonPath, before: str) -> Iterator[tuple[JsonPath, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("_"):
                yield from _walk(item, (*path, key), "")
    elif isinstance(value, list):
        words = [item if isinstance(item, str) else "" for item in value]
        for index, item in enumerate(value):
            yield from _walk(item, (*path, index), words[index - 1] if index else "")
    else:
        secret = _secret(str(value) if value is not None else "", path, before)
        if secret:
            yield path, secret


def _secret(text: str, path: JsonPath, before: str) -> str:
    """The secret in a single value, or nothing. `before` is the word in front of it in a list."""
    token = _TOKEN.search(text)
    if token:
        return token.group()
    if len(path) > 1 and path[-2] in _ENVIRONMENTS and _VARIABLE.fullmatch(str(path[-1])):
        return text
    in_list, in_text = len(path) > 1 and path[-2] in _LISTS, path[-1:] and path[-1] in _TEXTS
    if in_list and _FLAG.fullmatch(before) and not text.startswith("-"):
        return text
    assigned = _ASSIGNED.search(text) if in_list or in_text else None
    return assigned.group(1) if assigned else ""


def report_secrets(document: Document, found: Diagnostics) -> None:
    """A plan, its report and the process list of a node would show what stands in a configuration."""
    for path, _ in find_secrets(document):
        hint = "remove it, and withdraw it if others saw the file; paths.hf_token_file names the file of HF_TOKEN"
        named = max(index for index, step in enumerate(path) if isinstance(step, str))
        found.error("A556", f"{dotted(path[named:])} holds a secret", document.span(path), hint)


def masked(item: Diagnostic, secrets: Iterable[str]) -> Diagnostic:
    """The diagnostic with every secret replaced by asterisks, as many as it has characters."""
    spans = (item.span, *(related.span for related in item.related))
    shown = [_shown(member) for span in spans for member in _MEMBER.finditer(span.text)]
    known = [secret for secret in (*secrets, *shown) if len(secret) >= _SHORTEST]

    def hide(text: str) -> str:
        text = _TOKEN.sub(lambda match: "*" * len(match.group()), text)
        for secret in known:
            text = text.replace(secret, "*" * len(secret))
        return text

    return evolve(
        item,
        summary=hide(item.summary),
        hint=hide(item.hint),
        span=_hidden(item.span, hide),
        related=tuple(Related(hide(each.message), _hidden(each.span, hide)) for each in item.related),
    )


def _hidden(span: Span, hide: Callable[[str], str]) -> Span:
    return evolve(span, text=hide(_MEMBER.sub(_starred, span.text)))


def _shown(member: re.Match[str]) -> str:
    return str(member.group(member.lastindex or 0))


def _starred(member: re.Match[str]) -> str:
    """The member with its value hidden, however short that is."""
    begin, end = (at - member.start() for at in member.span(member.lastindex or 0))
    return member.group()[:begin] + "*" * (end - begin) + member.group()[end:]
