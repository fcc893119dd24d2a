"""SGLang's HTTP interface: /generate of its own, cumulative text, and any model name accepted."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence

from standin.batch import Batch
from standin.dialect import Ask, Json, Outcome, Refusal
from standin.openai import head, parse, usage
from standin.prometheus import family
from standin.words import count

__all__ = ["SglangDialect"]

VERSION = "0.5.23"
_GENERATE_DEFAULT = 128  # max_new_tokens where the request does not say


class SglangDialect:
    """Implements `standin.dialect.Dialect`. `exposes` switches /metrics on."""

    split_last = False

    def __init__(self, model: str, root: str, max_model_len: int, exposes: bool, no_usage: bool) -> None:
        self.model, self._root, self.max_model_len = model, root, max_model_len
        self._exposes, self._no_usage = exposes, no_usage

    def health(self) -> Json | None:
        return None

    def models(self, now: int) -> Json:
        card = {"id": self.model, "object": "model", "created": now, "owned_by": "sglang", "root": self._root}
        return {"object": "list", "data": [{**card, "parent": None, "max_model_len": self.max_model_len}]}

    def metrics(self, batch: Batch) -> str:
        if not self._exposes:
            return ""
        labels, lines = {"model_name": self.model}, []
        counts = {
            "num_running_reqs": ("gauge", batch.running),
            "num_queue_reqs": ("gauge", batch.waiting),
            "prompt_tokens_total": ("counter", batch.counters.prompt_tokens),
            "generation_tokens_total": ("counter", batch.counters.generation_tokens),
            "num_requests_total": ("counter", batch.counters.finished),
        }
        for name, (kind, value) in counts.items():
            lines += family(f"sglang:{name}", kind, [(labels, float(value))])
        return "\n".join(lines) + "\n"

    def pages(self, batch: Batch) -> Mapping[str, Callable[[], Json]]:
        def model_info() -> Json:
            return {"model_path": self._root, "tokenizer_path": self._root, "is_generation": True}

        def server_info() -> Json:
            length = batch.tokens_per_step() if batch.speculative else None
            states = {"last_gen_throughput": 0.0, "avg_spec_accept_length": length}
            return {"model_path": self._root, "version": VERSION, "internal_states": [states]}

        return {"/model_info": model_info, "/get_model_info": model_info, "/server_info": server_info}

    def parse(self, path: str, body: Json) -> Ask | Refusal:
        return _parse_generate(body) if path == "/generate" else parse(path, body)

    def refuse(self, ask: Ask) -> Refusal | None:
        wanted = self.default_tokens(ask) if ask.output_tokens is None else ask.output_tokens
        if ask.prompt_tokens + wanted <= self.max_model_len:
            return None
        text = (
            f"Requested token count exceeds the model's maximum context length of {self.max_model_len} tokens. You "
            f"requested a total of {ask.prompt_tokens + wanted} tokens: {ask.prompt_tokens} tokens from the input "
            f"messages and {wanted} tokens for the completion."
        )
        if ask.kind == "native":
            return Refusal(400, {"error": {"message": text}})
        return Refusal(400, {"object": "error", "message": text, "type": "BadRequest", "param": None, "code": 400})

    def default_tokens(self, ask: Ask) -> int:
        if ask.kind == "chat":
            return max(1, self.max_model_len - ask.prompt_tokens)
        return _GENERATE_DEFAULT if ask.kind == "native" else 16

    def opening(self, ask: Ask) -> Sequence[Json]:
        return [self._chunk(ask, {"role": "assistant", "content": ""}, None)] if ask.kind == "chat" else []

    def piece(self, ask: Ask, text: str, so_far: Outcome) -> Json:
        if ask.kind == "native":
            return _native(ask, so_far)
        return self._chunk(ask, {"content": text} if ask.kind == "chat" else text, so_far.finish or None)

    def closing(self, ask: Ask, outcome: Outcome) -> Sequence[Json]:
        if ask.kind == "native" or self._no_usage or not ask.include_usage:
            return []
        return [{**head(ask, chunk=True), "choices": [], "usage": usage(ask, outcome)}]

    def whole(self, ask: Ask, outcome: Outcome) -> Json:
        if ask.kind == "native":
            return _native(ask, outcome)
        ends = {"logprobs": None, "finish_reason": outcome.finish, "matched_stop": None}
        said: Json = {"text": outcome.text}
        if ask.kind == "chat":
            said = {"message": {"role": "assistant", "content": outcome.text, "tool_calls": None}}
        counted = None if self._no_usage else {**usage(ask, outcome), "prompt_tokens_details": None}
        return {**head(ask, chunk=False), "choices": [{"index": 0, **said, **ends}], "usage": counted}

    def access(self, line: str) -> str:
        return f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] INFO:     {line}"

    def _chunk(self, ask: Ask, said: Json, finish: str | None) -> Json:
        name = "delta" if ask.kind == "chat" else "text"
        choice = {"index": 0, name: said, "logprobs": None, "finish_reason": finish, "matched_stop": None}
        return {**head(ask, chunk=True), "choices": [choice]}


def _native(ask: Ask, so_far: Outcome) -> Json:
    """A body or frame of /generate: the whole text so far."""
    finish = {"type": so_far.finish, "length": so_far.tokens} if so_far.finish else None
    info = {
        "id": ask.id,
        "finish_reason": finish,
        "prompt_tokens": ask.prompt_tokens,
        "weight_version": "default",
        "completion_tokens": so_far.tokens,
        "cached_tokens": 0,
        "e2e_latency": so_far.latency,
    }
    return {"text": so_far.text, "meta_info": info}


def _parse_generate(body: Json) -> Ask | Refusal:
    if not isinstance(body, Mapping) or not isinstance(body.get("text"), str):
        return Refusal(400, {"error": {"message": "Either text, input_ids or input_embeds should be provided."}})
    sampling = body.get("sampling_params") or {}
    stop = sampling.get("stop") or ()
    return Ask(
        id=uuid.uuid4().hex,
        created=int(time.time()),
        kind="native",
        model="",
        prompt=body["text"],
        prompt_tokens=count(body["text"]),
        output_tokens=sampling.get("max_new_tokens"),
        stream=bool(body.get("stream")),
        include_usage=False,
        ignore_eos=bool(sampling.get("ignore_eos")),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
    )
