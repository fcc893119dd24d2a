"""vLLM's HTTP interface: an empty /health, 404 for an unknown model, a usage frame only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from standin.batch import Batch
from standin.dialect import Ask, Json, Outcome, Refusal
from standin.openai import head, parse

from .metrics import exposition

__all__ = ["VllmDialect"]

VERSION = "0.33.0"


class VllmDialect:
    """Implements `standin.dialect.Dialect`. `pid` is the process that the log lines name."""

    split_last = False

    def __init__(self, model: str, root: str, max_model_len: int, pid: int, usage: str) -> None:
        self.model, self._root, self.max_model_len, self._pid = model, root, max_model_len, pid
        self._usage = usage  # asked | always | never

    def health(self) -> Json | None:
        return None

    def models(self, now: int) -> Json:
        card = {"id": self.model, "object": "model", "created": now, "owned_by": "vllm", "root": self._root}
        permission = {
            "id": f"modelperm-{now:016x}",
            "object": "model_permission",
            "created": now,
            "allow_create_engine": False,
            "allow_sampling": True,
            "allow_logprobs": True,
            "allow_search_indices": False,
            "allow_view": True,
            "allow_fine_tuning": False,
            "organization": "*",
            "group": None,
            "is_blocking": False,
        }
        rest = {"parent": None, "max_model_len": self.max_model_len, "permission": [permission]}
        return {"object": "list", "data": [{**card, **rest}]}

    def metrics(self, batch: Batch) -> str:
        return exposition(batch, self.model)

    def pages(self, batch: Batch) -> Mapping[str, Callable[[], Json]]:  # noqa: ARG002 - the protocol's
        return {"/version": lambda: {"version": VERSION}}

    def parse(self, path: str, body: Json) -> Ask | Refusal:
        return parse(path, body)

    def refuse(self, ask: Ask) -> Refusal | None:
        if ask.model not in {self.model, ""}:
            return _error(404, "NotFoundError", f"The model `{ask.model}` does not exist.", "model")
        wanted = self.default_tokens(ask) if ask.output_tokens is None else ask.output_tokens
        if ask.prompt_tokens + wanted > self.max_model_len:
            text = (
                f"This model's maximum context length is {self.max_model_len} tokens. However, you requested "
                f"{wanted} output tokens and your prompt contains at least {ask.prompt_tokens} input tokens. "
                "Please reduce the length of the input prompt or the number of requested output tokens."
            )
            return _error(400, "BadRequestError", text, "input_tokens")
        return None

    def default_tokens(self, ask: Ask) -> int:
        return max(1, self.max_model_len - ask.prompt_tokens) if ask.kind == "chat" else 16

    def opening(self, ask: Ask) -> Sequence[Json]:
        return [self._chunk(ask, {"role": "assistant", "content": ""}, None)] if ask.kind == "chat" else []

    def piece(self, ask: Ask, text: str, so_far: Outcome) -> Json:
        return self._chunk(ask, {"content": text} if ask.kind == "chat" else text, so_far.finish or None)

    def closing(self, ask: Ask, outcome: Outcome) -> Sequence[Json]:
        if not self._counts(ask):
            return []
        return [{**head(ask, chunk=True), "choices": [], "usage": _usage(ask, outcome)}]

    def whole(self, ask: Ask, outcome: Outcome) -> Json:
        ends = {"logprobs": None, "finish_reason": outcome.finish, "stop_reason": None}
        said: Json = {"text": outcome.text}
        if ask.kind == "chat":
            said = {"message": {"role": "assistant", "content": outcome.text, "refusal": None, "tool_calls": []}}
        usage = {**_usage(ask, outcome), "prompt_tokens_details": None}
        return {
            **head(ask, chunk=False),
            "choices": [{"index": 0, **said, **ends}],
            "service_tier": None,
            "system_fingerprint": None,
            "usage": usage if self._usage != "never" else None,
            "kv_transfer_params": None,
        }

    def access(self, line: str) -> str:
        return f"(APIServer pid={self._pid}) INFO:     {line}"

    def _counts(self, ask: Ask) -> bool:
        return self._usage == "always" or (self._usage == "asked" and ask.include_usage)

    def _chunk(self, ask: Ask, said: Json, finish: str | None) -> Json:
        name = "delta" if ask.kind == "chat" else "text"
        choice = {"index": 0, name: said, "logprobs": None, "finish_reason": finish, "stop_reason": None}
        usage = {"usage": None} if self._counts(ask) else {}
        return {**head(ask, chunk=True), "choices": [choice], **usage}


def _usage(ask: Ask, outcome: Outcome) -> dict[str, Json]:
    return {
        "prompt_tokens": ask.prompt_tokens,
        "total_tokens": ask.prompt_tokens + outcome.tokens,
        "completion_tokens": outcome.tokens,
    }


def _error(status: int, kind: str, message: str, param: str) -> Refusal:
    return Refusal(status, {"error": {"message": message, "type": kind, "param": param, "code": status}})
