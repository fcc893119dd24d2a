"""What the engines' HTTP interfaces differ in: each engine implements `Dialect`, `server` does the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .batch import Batch

__all__ = ["Ask", "Dialect", "Json", "Outcome", "Refusal"]

Json = Any  # what json.dumps takes; the wire has no better type


@dataclass(frozen=True)
class Ask:
    """One request for text. Lengths are in tokens; `output_tokens` is None where the request has no limit."""

    id: str
    created: int
    kind: str  # completion | chat | native (the engine's own endpoint)
    model: str
    prompt: str
    prompt_tokens: int
    output_tokens: int | None
    stream: bool
    include_usage: bool
    ignore_eos: bool
    stop: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """A finished answer. Times are wall seconds."""

    text: str
    tokens: int
    finish: str  # length | stop; empty while it goes on
    ttft: float
    latency: float


@dataclass(frozen=True)
class Refusal:
    """An answer that is no text: HTTP status and body."""

    status: int
    body: Json


class Dialect(Protocol):
    """One engine's words. `batch` is only read."""

    model: str  # the served id
    max_model_len: int
    split_last: bool  # the last piece of a stream goes out as two frames in one write

    def health(self) -> Json | None:
        """The body of /health; None is an empty one."""

    def models(self, now: int) -> Json:
        """The body of /v1/models."""

    def metrics(self, batch: Batch) -> str:
        """The text of /metrics; empty where the engine was not asked to expose any."""

    def pages(self, batch: Batch) -> Mapping[str, Callable[[], Json]]:
        """Further GET paths and their bodies."""

    def parse(self, path: str, body: Json) -> Ask | Refusal:
        """A POST to a completion path."""

    def refuse(self, ask: Ask) -> Refusal | None:
        """Why this request is not served."""

    def default_tokens(self, ask: Ask) -> int:
        """Output tokens of a request that names no limit."""

    def opening(self, ask: Ask) -> Sequence[Json]:
        """Frames before the first token."""

    def piece(self, ask: Ask, text: str, so_far: Outcome) -> Json:
        """The frame of one piece of text; `so_far.finish` is empty but on the last."""

    def closing(self, ask: Ask, outcome: Outcome) -> Sequence[Json]:
        """Frames after the last token, before [DONE]."""

    def whole(self, ask: Ask, outcome: Outcome) -> Json:
        """The body of an answer that is not streamed."""

    def access(self, line: str) -> str:
        """An access log line as the engine prints it."""
