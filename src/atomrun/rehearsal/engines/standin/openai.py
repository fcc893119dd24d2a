"""The parts of OpenAI's wire format that all engines share."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping

from .dialect import Ask, Json, Outcome, Refusal
from .words import count

__all__ = ["head", "parse", "usage"]


def parse(path: str, body: Json, only_text: bool = False) -> Ask | Refusal:
    """A body of /v1/completions or /v1/chat/completions. `only_text`: a prompt must be one string."""
    if not isinstance(body, Mapping):
        return _invalid("body", "a JSON object")
    chat = "chat" in path
    prompt = _chat_prompt(body.get("messages")) if chat else _prompt(body.get("prompt"), only_text)
    if prompt is None:
        return _invalid("messages" if chat else "prompt", "a list of messages" if chat else "a text")
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        return _invalid("max_tokens", "a positive integer")
    stop = body.get("stop") or ()
    options = body.get("stream_options") or {}
    return Ask(
        id=("chatcmpl-" if chat else "cmpl-") + uuid.uuid4().hex,
        created=int(time.time()),
        kind="chat" if chat else "completion",
        model=str(body.get("model") or ""),
        prompt=prompt,
        prompt_tokens=count(prompt),
        output_tokens=limit,
        stream=bool(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        ignore_eos=bool(body.get("ignore_eos")),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
    )


def head(ask: Ask, chunk: bool) -> dict[str, Json]:
    """The fields that open every body and every frame."""
    kind = ("chat.completion.chunk" if chunk else "chat.completion") if ask.kind == "chat" else "text_completion"
    return {"id": ask.id, "object": kind, "created": ask.created, "model": ask.model}


def usage(ask: Ask, outcome: Outcome) -> dict[str, Json]:
    """Token counts in the order of OpenAI's documentation."""
    total = ask.prompt_tokens + outcome.tokens
    return {"prompt_tokens": ask.prompt_tokens, "completion_tokens": outcome.tokens, "total_tokens": total}


def _prompt(given: Json, only_text: bool) -> str | None:
    if isinstance(given, str):
        return given
    if not only_text and isinstance(given, list) and len(given) == 1 and isinstance(given[0], str):
        return given[0]
    return None


def _chat_prompt(messages: Json) -> str | None:
    if not isinstance(messages, list) or not messages or not all(isinstance(one, Mapping) for one in messages):
        return None
    turns = [f"<|{one.get('role', 'user')}|> {_content(one.get('content'))}" for one in messages]
    return "\n".join([*turns, "<|assistant|>"])


def _content(content: Json) -> str:
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content or "")


def _invalid(field: str, wanted: str) -> Refusal:
    detail = [{"type": "value_error", "loc": ["body", field], "msg": f"Input should be {wanted}"}]
    return Refusal(422, {"detail": detail})
