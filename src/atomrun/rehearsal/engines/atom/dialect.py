"""ATOM's HTTP interface: it rejects a wrong model with 400, always sends a usage frame, and reports MTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from standin.batch import Batch
from standin.dialect import Ask, Json, Outcome, Refusal
from standin.openai import head, parse, usage

from .metrics import exposition, mtp_stats

__all__ = ["AtomDialect"]


class AtomDialect:
    """Implements `standin.dialect.Dialect`."""

    split_last = True

    def __init__(self, model: str, max_model_len: int, no_usage: bool = False) -> None:
        self.model, self.max_model_len, self._no_usage = model, max_model_len, no_usage

    def health(self) -> Json | None:
        return {"status": "ok"}

    def models(self, now: int) -> Json:
        return {
            "object": "list",
            "data": [{"id": self.model, "object": "model", "created": now, "owned_by": "atom"}],
        }

    def metrics(self, batch: Batch) -> str:
        return exposition(batch, time.time())

    def pages(self, batch: Batch) -> Mapping[str, Callable[[], Json]]:
        return {"/debug/mtp_stats": lambda: mtp_stats(batch)}

    def parse(self, path: str, body: Json) -> Ask | Refusal:
        return parse(path, body, only_text=True)

    def refuse(self, ask: Ask) -> Refusal | None:
        if ask.model != self.model:
            text = f"Requested model '{ask.model}' does not match server model '{self.model}'"
            return Refusal(400, {"detail": text})
        wanted = self.default_tokens(ask) if ask.output_tokens is None else ask.output_tokens
        if ask.prompt_tokens + wanted > self.max_model_len:
            return Refusal(400, {"error": {"message": _too_long(self.max_model_len, ask, wanted), **_BAD_REQUEST}})
        return None

    def default_tokens(self, ask: Ask) -> int:
        return min(256, max(1, self.max_model_len - ask.prompt_tokens))

    def opening(self, ask: Ask) -> Sequence[Json]:
        return [_chunk(ask, "", None)] if ask.kind == "chat" else []

    def piece(self, ask: Ask, text: str, so_far: Outcome) -> Json:
        return _chunk(ask, text, so_far.finish or None)

    def closing(self, ask: Ask, outcome: Outcome) -> Sequence[Json]:
        last = _chunk(ask, "", "stop")
        if self._no_usage:
            return [last]
        return [last, {**head(ask, chunk=True), "choices": [], "usage": usage(ask, outcome)}]

    def whole(self, ask: Ask, outcome: Outcome) -> Json:
        chat = ask.kind == "chat"
        said = {"message": {"role": "assistant", "content": outcome.text}} if chat else {"text": outcome.text}
        per_token = (outcome.latency - outcome.ttft) / max(1, outcome.tokens - 1)
        times = {
            "ttft_s": round(outcome.ttft, 4),
            "tpot_s": round(per_token, 4),
            "latency_s": round(outcome.latency, 4),
        }
        return {
            **head(ask, chunk=False),
            "choices": [{"index": 0, **said, "finish_reason": outcome.finish}],
            "usage": {**usage(ask, outcome), **times},
            "kv_transfer_params": None,
        }

    def access(self, line: str) -> str:
        return f"INFO:     {line}"


_BAD_REQUEST = {"type": "invalid_request_error", "code": 400}


def _chunk(ask: Ask, text: str, finish: str | None) -> Json:
    said: Json = {"delta": {"content": text} if text else {}} if ask.kind == "chat" else {"text": text}
    return {
        **head(ask, chunk=True),
        "choices": [{"index": 0, **said, "finish_reason": finish, "logprobs": None}],
    }


def _too_long(limit: int, ask: Ask, wanted: int) -> str:
    return (
        f"This model's maximum context length is {limit} tokens. However, you requested {wanted} output tokens and "
        f"your prompt contains at least {ask.prompt_tokens} input tokens, for a total of at least "
        f"{ask.prompt_tokens + wanted} tokens. Please reduce the length of the input prompt or the number of "
        "requested output tokens."
    )
