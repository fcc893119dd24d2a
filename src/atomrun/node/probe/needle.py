"""Needle in a haystack: a pass key hidden in filler of a given length, and the question for it."""

# ruff: noqa: UP006, UP035 - must run on Python 3.6
import random
from typing import Any, Dict, List

from .web import Reply, Server, Unreachable, text_of

__all__ = ["haystack", "run_needles"]

PATIENCE_S = 900.0
SAMPLE_WORDS = 400
WORDS = (
    "river", "mountain", "garden", "window", "market", "candle", "harbour", "meadow", "lantern", "bridge",
    "orchard", "winter", "summer", "quiet", "narrow", "golden", "distant", "gentle", "ancient", "silver",
    "wanders", "rests", "follows", "gathers", "carries", "opens", "crosses", "beneath", "beyond", "along",
)  # fmt: skip
QUESTION = "\n\nWhat is the pass key that the text above mentions?\nAnswer: The pass key is"


def run_needles(server: Server, isl: int, osl: int, count: int, seed: int) -> Dict[str, Any]:
    """Ask for `count` needles, at depths spread over the haystack.

    {"passed", "asked", "empty", "cut", "errors": [...], "prompt_tokens": mean}: `cut` counts answers that stopped
    at their length without the key.
    """
    words_per_token = _calibrate(server, seed)
    passed = empty = cut = 0
    tokens: List[int] = []
    errors: List[str] = []
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")  # noqa: S311 - a repeatable text, not a secret
        key = str(rng.randint(100000, 999999))
        depth = number / (count - 1.0) if count > 1 else 0.5
        prompt = haystack(rng, int(isl * words_per_token) - 40, depth, key)
        try:
            reply = server.post(
                "/v1/completions", {"prompt": prompt, "max_tokens": osl, "temperature": 0}, PATIENCE_S
            )
        except Unreachable as error:
            errors.append(str(error))
            continue
        text = text_of(reply)
        if text is None:
            errors.append(f"HTTP {reply.status}: {reply.excerpt()}")
            continue
        tokens.append(_prompt_tokens(reply))
        passed += key in text
        empty += not text.strip()
        cut += key not in text and _finish(reply) == "length"
    mean = sum(tokens) / len(tokens) if tokens else 0.0
    return {"passed": passed, "asked": count, "empty": empty, "cut": cut, "errors": errors, "prompt_tokens": mean}


def haystack(rng: "random.Random", words: int, depth: float, key: str) -> str:
    """Filler of about `words` words with the key at `depth` (0 is the start, 1 the end), then the question."""
    sentences = []
    for _ in range(max(1, words // 10)):
        chosen = [rng.choice(WORDS) for _ in range(10)]
        sentences.append(" ".join(chosen).capitalize() + ".")
    sentences.insert(int(depth * len(sentences)), f"The pass key is {key}. Remember it.")
    return " ".join(sentences) + QUESTION


def _calibrate(server: Server, seed: int) -> float:
    """Filler words per token of this server's tokenizer; 0.7 if it does not say."""
    rng = random.Random(seed)  # noqa: S311 - a repeatable text, not a secret
    prompt = haystack(rng, SAMPLE_WORDS, 0.5, "1")
    try:
        reply = server.post("/v1/completions", {"prompt": prompt, "max_tokens": 1, "temperature": 0}, PATIENCE_S)
    except Unreachable:
        return 0.7
    tokens = _prompt_tokens(reply)
    return len(prompt.split()) / float(tokens) if tokens else 0.7


def _prompt_tokens(reply: Reply) -> int:
    document = reply.json()
    usage = document.get("usage") if isinstance(document, dict) else None
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) else 0


def _finish(reply: Reply) -> Any:
    return reply.json()["choices"][0].get("finish_reason")
