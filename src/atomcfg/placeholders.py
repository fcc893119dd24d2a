"""Placeholders: which braces and angle brackets stand for something, and how `paths` resolves to a fixpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .documents import Document, JsonPath

__all__ = ["ADDRESS_TOKENS", "BRACE", "PathCycle", "leftovers", "resolve_paths"]

BRACE = re.compile(r"\{([A-Za-z][A-Za-z0-9_.-]*)\}")
ADDRESS_TOKENS = ("head-node-ip", "worker-node-ip")
_ANGLE = re.compile(r"<[A-Za-z][A-Za-z0-9 _.-]*>")
_WORDS = re.compile(r"(?i)(replace_me|todo|xxx+)")
# Inside argument lists angle brackets may be the engine's own tokens; only these words are ours.
_SURELY = re.compile(r"(?i)<[^<>]*(change|replace|your|todo)[^<>]*>")
_ARGUMENTS = ("atom_args", "serve_args", "sglang_args", "bench_extra_args")
_PROSE = ("run_card", "mtp_quality", "quant_parity")


class PathCycle(Exception):
    """`paths` refer to each other in a circle; `names` is the circle."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(" -> ".join(names))
        self.names = names


def resolve_paths(paths: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """`paths` with `{key}` and `{paths.key}` of one another and the `known` names filled in, to a fixpoint.

    Unknown braces stay. Raises `PathCycle`.
    """
    done: dict[str, str] = {}

    def visit(name: str, trail: tuple[str, ...]) -> str:
        if name in done:
            return done[name]
        if name in trail:
            raise PathCycle((*trail[trail.index(name) :], name))
        inner = (*trail, name)

        def one(match: re.Match[str]) -> str:
            word = match.group(1)
            key = word.removeprefix("paths.")
            if word in known:
                return known[word]
            return visit(key, inner) if key in paths else match.group()

        done[name] = BRACE.sub(one, paths[name])
        return done[name]

    for name in paths:
        visit(name, ())
    return done


def leftovers(document: Document) -> Iterator[tuple[JsonPath, bool, str]]:
    """Every place that a lab must still supply: its path, whether it is a key, and the token."""
    yield from _walk(document.value, ())


def _walk(value: object, path: JsonPath) -> Iterator[tuple[JsonPath, bool, str]]:
    if isinstance(value, str):
        token = _token(value, path)
        if token:
            yield path, False, token
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if key.startswith("_"):
                continue
            token = _token(key, path)
            if token:
                yield (*path, key), True, token
            if isinstance(item, str | list | dict):
                yield from _walk(item, (*path, key))


def _token(text: str, path: JsonPath) -> str:
    if "<" not in text and "{" not in text and text[:1] not in "rRtTxX":  # most texts
        return ""
    if path and path[0] in _PROSE:
        return ""
    inside_arguments = any(step in _ARGUMENTS for step in path)
    match = (_SURELY if inside_arguments else _ANGLE).search(text)
    if match:
        return match.group()
    brace = BRACE.search(text)
    if brace and brace.group(1) in ADDRESS_TOKENS:
        return brace.group()
    return text if _WORDS.fullmatch(text) else ""
