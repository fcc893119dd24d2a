"""Argument tokens: text that the plan knows in full, or text with holes that only a run can fill.

A plan must be complete, yet a few facts exist only while it runs: the run id, the attempt, a node's
fabric devices, a free port of a rehearsal. Each such hole is a typed `Binding`. Where the plan does know
a value that a rehearsal maps elsewhere (a port, an address, a path root), the binding carries it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from attrs import frozen

__all__ = ["Binding", "Hole", "Template", "Token", "UnboundError", "bind", "bindings_of", "fill", "template"]


class Hole(StrEnum):
    """What a hole stands for. `ADDRESS` is used per rank, as `address.0`, `address.1`, ..."""

    RUN_ID = "run_id"
    OWNER = "owner"  # who launches
    PLAN_DIGEST = "plan_digest"
    ATTEMPT = "attempt"
    RANK = "rank"
    RUN_DIR = "run_dir"  # the run's directory on the node, as the programs in the container see it
    HTTP_PORT = "http_port"
    MASTER_PORT = "master_port"
    MASTER_ADDR = "master_addr"
    ADDRESS = "address"
    MODELS_DIR = "models_dir"
    FABRIC_HCA = "fabric_hca"
    FABRIC_NETDEV = "fabric_netdev"


@frozen
class Binding:
    """A hole in a token. `value` is what the plan knows; None means that only a run knows it."""

    name: str
    value: str | None = None


@frozen
class Template:
    """Text with holes, in order. Never built without a `Binding` in it."""

    parts: tuple[str | Binding, ...]


Token = str | Template


class UnboundError(LookupError):
    """A token was filled without a value for one of its holes."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no value for the binding {name!r}")
        self.name = name


def bind(hole: Hole, value: str | None = None, rank: int | None = None) -> Binding:
    """A binding for `hole`, numbered by `rank` where every rank has its own."""
    return Binding(hole.value if rank is None else f"{hole.value}.{rank}", value)


def template(*parts: str | Binding | Template) -> Token:
    """Join parts into the smallest token: neighbouring text merges, pure text stays a string."""
    flat: list[str | Binding] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Template) else (part,):
            if isinstance(piece, str) and flat and isinstance(flat[-1], str):
                flat[-1] += piece
            elif piece != "":
                flat.append(piece)
    if all(isinstance(piece, str) for piece in flat):
        return "".join(piece for piece in flat if isinstance(piece, str))
    return Template(tuple(flat))


def bindings_of(token: Token) -> tuple[Binding, ...]:
    """The holes of a token, in order."""
    if isinstance(token, str):
        return ()
    return tuple(part for part in token.parts if isinstance(part, Binding))


def fill(token: Token, values: Mapping[str, str] | None = None, unknown: Callable[[str], str] | None = None) -> str:
    """The text of a token. `values` win over what the plan knows.

    A hole that neither knows goes to `unknown` (a display name, for instance); without it, `UnboundError`.
    This is the only function that substitutes bindings.
    """
    if isinstance(token, str):
        return token
    return "".join(part if isinstance(part, str) else _value(part, values or {}, unknown) for part in token.parts)


def _value(binding: Binding, values: Mapping[str, str], unknown: Callable[[str], str] | None) -> str:
    known = values.get(binding.name, binding.value)
    if known is not None:
        return known
    if unknown is None:
        raise UnboundError(binding.name)
    return unknown(binding.name)


def fill_all(tokens: Iterable[Token], values: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """`fill` over an argv."""
    return tuple(fill(token, values) for token in tokens)
