"""Answers and their fingerprints: speculative decoding's acceptance, degenerate text, repeatable output."""

# ruff: noqa: UP006, UP035, UP045 - must run on Python 3.6
import hashlib
import time
from typing import Any, Dict, List, Optional

from .web import Server, Unreachable, text_of

__all__ = ["acceptance", "fingerprint", "is_degenerate", "parse_metrics", "run_mtp"]

PATIENCE_S = 300.0
SNAPSHOT_S = 12.0  # some servers refresh their metrics only every few seconds
PROMPTS = (
    "Explain in two sentences why the sky is blue.",
    "List three uses of a paper clip.",
    "Write a short poem about a lighthouse.",
    "What is the difference between a list and a tuple in Python?",
    "Summarise the plot of Romeo and Juliet in one paragraph.",
    "Translate 'good morning' into French, Spanish and German.",
    "Name the planets of the solar system in order.",
    "Describe how bread is made.",
)

# Without the engine's prefix ("x:"). Counters first, gauges if there are none.
DRAFTED = ("mtp_draft_tokens_total", "spec_decode_num_draft_tokens_total")
ACCEPTED = ("mtp_accepted_tokens_total", "spec_decode_num_accepted_tokens_total")
DRAFTS = ("spec_decode_num_drafts_total",)
RATE = ("mtp_acceptance_rate", "spec_accept_rate")
AVERAGE = ("mtp_average_tokens_per_forward", "spec_accept_length")


def parse_metrics(text: str) -> Dict[str, float]:
    """Prometheus text: the sum over all series of each name, engine prefix dropped. NaN counts as absent."""
    values: Dict[str, float] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, _, rest = line.partition("{")
        if rest:
            rest = rest.rpartition("}")[2]
        else:
            name, _, rest = line.partition(" ")
        try:
            value = float(rest.split()[0])
        except (ValueError, IndexError):
            continue
        if value == value:
            key = name.strip().rpartition(":")[2]
            values[key] = values.get(key, 0.0) + value
    return values


def acceptance(metrics: Dict[str, float]) -> Dict[str, Optional[float]]:
    """{"rate": 0..1, "average": tokens per forward pass}, None where the server does not say."""
    drafted, accepted, drafts = (_first(metrics, names) for names in (DRAFTED, ACCEPTED, DRAFTS))
    rate, average = _first(metrics, RATE), _first(metrics, AVERAGE)
    if drafted and accepted is not None:
        rate = accepted / drafted
    if drafts and accepted is not None and average is None:
        average = 1.0 + accepted / drafts
    return {"rate": rate, "average": average}


def _first(metrics: Dict[str, float], names: Any) -> Optional[float]:
    return next((metrics[name] for name in names if name in metrics), None)


def is_degenerate(text: str) -> bool:
    """Whether a model's answer is empty or repeats itself: four times the same four words in a row, or fewer than
    a fifth of twenty or more words differ."""
    words = text.split()
    if not words:
        return True
    for start in range(len(words) - 15):
        unit = words[start : start + 4]
        if all(words[start + 4 * turn : start + 4 * turn + 4] == unit for turn in range(1, 4)):
            return True
    return len(words) >= 20 and len(set(words)) * 5 < len(words)


def run_mtp(server: Server, chat_prompt: str, snapshot_s: float = SNAPSHOT_S) -> Dict[str, Any]:
    """Ask the fixed prompts, read the server's own counters (waiting up to `snapshot_s` for them to move), and take
    the chat prompt's fingerprint."""
    answers: List[str] = []
    errors: List[str] = []
    for prompt in PROMPTS:
        messages = [{"role": "user", "content": prompt}]
        _collect(server, {"messages": messages, "max_tokens": 128}, answers, errors)
    bad = sum(map(is_degenerate, answers))
    result: Dict[str, Any] = dict(
        _accepted_by_now(server, snapshot_s), answers=len(answers), degenerate=bad, errors=errors
    )
    if chat_prompt:
        result["chat"] = _chat_fingerprint(server, chat_prompt)
    return result


def _collect(server: Server, body: Dict[str, Any], answers: List[str], errors: List[str]) -> None:
    try:
        reply = server.post("/v1/chat/completions", dict(body, temperature=0), PATIENCE_S)
    except Unreachable as error:
        errors.append(str(error))
        return
    text = text_of(reply)
    if text is None:
        errors.append(f"HTTP {reply.status}: {reply.excerpt()}")
    else:
        answers.append(text)


def _accepted_by_now(server: Server, seconds: float) -> Dict[str, Any]:
    until = time.monotonic() + seconds
    while True:
        reply = server.get("/metrics", PATIENCE_S)
        found = acceptance(parse_metrics(reply.body.decode("utf-8", "replace"))) if reply.status == 200 else {}
        if found.get("rate") or time.monotonic() > until:
            return {"rate": found.get("rate"), "average": found.get("average"), "metrics_status": reply.status}
        time.sleep(0.5)


def _chat_fingerprint(server: Server, prompt: str) -> Dict[str, Any]:
    messages = [{"role": "user", "content": prompt}]
    return _hashed(server, "/v1/chat/completions", {"messages": messages, "max_tokens": 64})


def fingerprint(server: Server, prompt: str) -> Dict[str, Any]:
    """The greedy answer to a fixed prompt, asked twice: {"sha256", "text", "stable", "error"}."""
    first = _hashed(server, "/v1/completions", {"prompt": prompt, "max_tokens": 32})
    again = _hashed(server, "/v1/completions", {"prompt": prompt, "max_tokens": 32})
    return dict(first, stable=first["sha256"] == again["sha256"])


def _hashed(server: Server, path: str, body: Dict[str, Any]) -> Dict[str, Any]:
    try:
        reply = server.post(path, dict(body, temperature=0, seed=0), PATIENCE_S)
    except Unreachable as error:
        return {"sha256": "", "text": "", "error": str(error)}
    text = text_of(reply)
    if text is None:
        return {"sha256": "", "text": "", "error": f"HTTP {reply.status}: {reply.excerpt()}"}
    return {"sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(), "text": text[:500], "error": ""}
