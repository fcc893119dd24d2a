"""The functional checks: what an OpenAI-compatible server must answer, one small request each."""

# ruff: noqa: UP006, UP035 - must run on Python 3.6
import json
import time
from typing import Any, Callable, Dict, List, Tuple

from .web import Server, Unreachable, text_of

__all__ = ["API_SMOKE", "HEALTH_CHECK", "run_checks"]

PATIENCE_S = 120.0
UNKNOWN_MODEL = "no-such-model-atomrun"

Check = Callable[[Server, str], str]  # server, health path -> what is wrong, "" for nothing


class Noted(Exception):
    """Not what the API promises, but nothing that a benchmark trips over."""


def _health(server: Server, health_path: str) -> str:
    status = server.get(health_path, PATIENCE_S).status
    return "" if status == 200 else f"{health_path} answers {status}"


def _models(server: Server, _: str) -> str:
    reply = server.get("/v1/models", PATIENCE_S)
    document = reply.json()
    data = document.get("data") if isinstance(document, dict) else None
    if reply.status != 200 or not isinstance(data, list):
        return f"answers {reply.status}: {reply.excerpt()}"
    served = [item.get("id") for item in data if isinstance(item, dict)]
    return "" if server.model in served else f"lists {served}, not {server.model}"


def _one_token(server: Server, _: str) -> str:
    return _answer(server, "/v1/completions", {"prompt": "Hello", "max_tokens": 1})


def _completions(server: Server, _: str) -> str:
    return _answer(server, "/v1/completions", {"prompt": "The capital of France is", "max_tokens": 16})


def _chat(server: Server, _: str) -> str:
    messages = [{"role": "user", "content": "Say hello."}]
    return _answer(server, "/v1/chat/completions", {"messages": messages, "max_tokens": 32})


def _answer(server: Server, path: str, body: Dict[str, Any]) -> str:
    reply = server.post(path, dict(body, temperature=0), PATIENCE_S)
    text = text_of(reply)
    if text is None:
        return f"answers {reply.status}: {reply.excerpt()}"
    return "" if text.strip() or body["max_tokens"] == 1 else "the answer is empty"


def _streaming(server: Server, _: str) -> str:
    pieces: List[str] = []
    ended = False
    body = {"prompt": "Count from one to ten:", "max_tokens": 16, "temperature": 0}
    for payload in server.stream("/v1/completions", body, PATIENCE_S):
        if payload == "[DONE]":
            ended = True
            break
        event = json.loads(payload)
        if "error" in event:
            return f"the stream carries an error: {json.dumps(event['error'])[:200]}"
        pieces += [choice.get("text") or "" for choice in event.get("choices", [])]
    if not ended:
        return "the stream ended without [DONE]"
    return "" if "".join(pieces).strip() else "the stream carried no text"


def _unknown_model(server: Server, _: str) -> str:
    stranger = server._replace(model=UNKNOWN_MODEL)
    status = stranger.post("/v1/completions", {"prompt": "Hello", "max_tokens": 1}, PATIENCE_S).status
    if status == 200:
        raise Noted("the server does not look at the name of the model")
    return "" if 400 <= status < 500 else f"a request for an unknown model answers {status}"


HEALTH_CHECK: Tuple[Tuple[str, Check], ...] = (
    ("health", _health),
    ("models", _models),
    ("one_token", _one_token),
)
API_SMOKE: Tuple[Tuple[str, Check], ...] = (
    ("models", _models),
    ("completions", _completions),
    ("chat_completions", _chat),
    ("streaming", _streaming),
    ("unknown_model", _unknown_model),
)


def run_checks(server: Server, health_path: str, checks: Tuple[Tuple[str, Check], ...]) -> List[Dict[str, Any]]:
    """Every check, whatever the others find: [{"name", "reason": "" for one that holds, "note", "seconds"}]."""
    results = []
    for name, check in checks:
        began, note = time.monotonic(), ""
        try:
            reason = check(server, health_path)
        except Noted as error:
            reason, note = "", str(error)
        except (Unreachable, ValueError, AttributeError, TypeError) as error:
            reason = str(error) or type(error).__name__  # an answer of another shape than OpenAI's
        seconds = round(time.monotonic() - began, 3)
        results.append({"name": name, "reason": reason, "note": note, "seconds": seconds})
    return results
