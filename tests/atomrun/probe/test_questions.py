"""What the probe asks of a server, over real HTTP: functional checks, needles, quality, fingerprints."""

from __future__ import annotations

import ast
import io
import json
import random
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from atomrun.node.probe import needle, quality
from atomrun.node.probe.functional import API_SMOKE, HEALTH_CHECK, run_checks
from atomrun.node.probe.modes import MODES, main
from atomrun.node.probe.web import Reply, Server, Unreachable, text_of

from .serving import MODEL, Api, completion, serving


def test_the_probe_runs_on_old_interpreters() -> None:
    for path in Path(str(files("atomrun"))).glob("node/probe/*.py"):
        ast.parse(path.read_text(), feature_version=(3, 6))
        assert "from __future__ import annotations" not in path.read_text(), "came with Python 3.7"


# --- functional checks


def checked(api: Api, checks: Any = API_SMOKE) -> dict[str, str]:
    with serving(api) as server:
        return {item["name"]: item["reason"] for item in run_checks(server, "/health", checks)}


def test_a_good_server_passes_everything() -> None:
    assert set(checked(Api.good()).values()) == {""}
    assert checked(Api.good(), HEALTH_CHECK) == {"health": "", "models": "", "one_token": ""}


def stream(data: bytes) -> Any:
    return lambda body: (200, data) if body.get("stream") else completion("x")


MODELS, COMPLETIONS, CHAT = "GET /v1/models", "POST /v1/completions", "POST /v1/chat/completions"
PIECE, DEAD = b'data: {"choices": [{"text": "x"}]}\n\n', b'data: {"error": {"message": "dead"}}\n\n'


@pytest.mark.parametrize(
    ("key", "answer", "check", "reason"),
    [
        (MODELS, (200, {"data": [{"id": "other"}]}), "models", "lists ['other'], not org/model"),
        (MODELS, (200, {"models": []}), "models", 'answers 200: {"models": []}'),
        (MODELS, (503, b""), "models", "answers 503: "),
        (COMPLETIONS, (500, b"oops"), "completions", "answers 500: oops"),
        (COMPLETIONS, completion(" "), "completions", "the answer is empty"),
        (COMPLETIONS, (500, b"x"), "unknown_model", "a request for an unknown model answers 500"),
        (COMPLETIONS, (200, {"choices": []}), "completions", 'answers 200: {"choices": []}'),
        (CHAT, (400, {"detail": "no"}), "chat_completions", 'answers 400: {"detail": "no"}'),
        (COMPLETIONS, stream(b"data: [DONE]\n\n"), "streaming", "the stream carried no text"),
        (COMPLETIONS, stream(PIECE), "streaming", "the stream ended without [DONE]"),
        (COMPLETIONS, stream(DEAD), "streaming", 'the stream carries an error: {"message": "dead"}'),
        (COMPLETIONS, (500, b"oops"), "streaming", "HTTP 500: oops"),
        (COMPLETIONS, stream(b"data: {bad\n\n"), "streaming", "Expecting property name"),
        (COMPLETIONS, stream(b"data: 7\n\n"), "streaming", "not iterable"),
    ],
)
def test_what_is_wrong_is_said(key: str, answer: Any, check: str, reason: str) -> None:
    found = checked(Api.good(**{key: answer}))
    assert reason in found[check]


def test_a_server_that_serves_any_name_is_noted() -> None:
    with serving(Api.good(**{COMPLETIONS: completion("x")})) as server:
        found = run_checks(server, "/health", API_SMOKE)
    assert (found[-1]["reason"], found[-1]["note"]) == ("", "the server does not look at the name of the model")


@pytest.mark.parametrize("status", [401, 503])
def test_health(status: int) -> None:
    assert (
        checked(Api.good(**{"GET /health": (status, b"")}), HEALTH_CHECK)["health"] == f"/health answers {status}"
    )


def test_a_server_that_is_gone_fails_every_check() -> None:
    with serving(Api.good()) as server:
        pass
    found = run_checks(server, "/health", HEALTH_CHECK)
    assert [item["reason"] for item in found] == ["connection refused"] * 3


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (200, {"choices": [{"text": "a"}]}, "a"),
        (200, {"choices": [{"message": {"content": "a"}}]}, "a"),
        (200, {"choices": [{"message": {"content": None, "reasoning_content": "b"}}]}, "b"),
        (200, {"choices": [{"message": {"content": None}}]}, None),
        (200, {"choices": ["x"]}, None),
        (200, [], None),
        (500, {"choices": [{"text": "a"}]}, None),
    ],
)
def test_the_text_of_an_answer(status: int, body: Any, text: str | None) -> None:
    assert text_of(Reply(status, json.dumps(body).encode())) == text


def test_a_body_that_is_no_json() -> None:
    assert Reply(200, b"\xff{").json() is None
    assert Reply(200, b"a\n  b").excerpt() == "a b"


# --- needles


def knowing(body: Mapping[str, Any]) -> Any:
    """A model that reads: it finds the key, and counts a token for each word and a half."""
    words = body["prompt"].split()
    key = words[words.index("key", words.index("pass") + 1) + 2] if "pass" in words else ""
    return completion(f" {key}", tokens=int(len(words) * 1.5))


def asked(answer: Any, count: int = 4) -> Mapping[str, Any]:
    api = Api.good(**{"POST /v1/completions": answer})
    with serving(api) as server:
        return needle.run_needles(server, 3000, 16, count, 42)


def test_a_model_that_reads_finds_every_key_at_the_stated_length() -> None:
    found = asked(knowing)
    assert (found["passed"], found["asked"], found["empty"], found["cut"], found["errors"]) == (4, 4, 0, 0, [])
    assert abs(found["prompt_tokens"] - 3000) < 150


def test_a_model_that_does_not_is_counted() -> None:
    assert asked(lambda body: completion("", tokens=100))["empty"] == 4
    assert asked(lambda body: completion("hmm", finish="length"), 1)["cut"] == 1
    failing = asked(lambda body: (500, b"oops"))
    assert (failing["passed"], failing["errors"], failing["prompt_tokens"]) == (0, ["HTTP 500: oops"] * 4, 0.0)


def test_needles_for_nobody() -> None:
    with serving(Api.good()) as server:
        pass
    assert needle.run_needles(server, 100, 8, 2, 0)["errors"] == ["connection refused"] * 2


def test_a_haystack_is_the_same_for_the_same_seed_and_holds_the_key_once() -> None:
    for depth in (0.0, 0.5, 1.0):
        text = needle.haystack(random.Random(1), 200, depth, "424242")
        assert text == needle.haystack(random.Random(1), 200, depth, "424242")
        assert text.count("424242") == 1
        place = text.index("424242") / len(text)
        assert abs(place - depth) < 0.15


# --- quality

METRICS = b"""\
# HELP x:mtp_draft_tokens_total drafts
x:mtp_draft_tokens_total 100
x:mtp_accepted_tokens_total 70
x:mtp_average_tokens_per_forward 2.1
"""
V1 = b"""\
v:spec_decode_num_drafts_total{engine="0",model_name="a b"} 40
v:spec_decode_num_draft_tokens_total{engine="0"} 100
v:spec_decode_num_draft_tokens_total{engine="1"} 100 1700000000
v:spec_decode_num_accepted_tokens_total{engine="0"} 60
v:spec_decode_num_accepted_tokens_total{engine="1"} 60
"""
GAUGES = b"s:spec_accept_rate 0.5\ns:spec_accept_length NaN\nbroken\ns:other{ 3\n"


@pytest.mark.parametrize(
    ("text", "rate", "average"),
    [(METRICS, 0.7, 2.1), (V1, 0.6, 4.0), (GAUGES, 0.5, None), (b"", None, None)],
)
def test_acceptance_from_the_servers_metrics(text: bytes, rate: float | None, average: float | None) -> None:
    assert quality.acceptance(quality.parse_metrics(text.decode())) == {"rate": rate, "average": average}


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("", True),
        ("  \n", True),
        ("the answer is the answer is the answer is the answer is the", False),
        ("a b c d a b c d a b c d a b c d", True),
        ("no " * 20, True),
        ("============ Serving Benchmark Result ============", False),
        ("Bread is made of flour, water, salt and yeast; knead it, let it rise, and bake it until brown.", False),
    ],
)
def test_degenerate_answers(text: str, bad: bool) -> None:
    assert quality.is_degenerate(text) is bad


def test_mtp_quality() -> None:
    api = Api.good(**{"GET /metrics": (200, METRICS)})
    with serving(api) as server:
        found = quality.run_mtp(server, "Hi")
    assert (found["rate"], found["answers"], found["degenerate"], found["errors"]) == (0.7, 8, 0, [])
    assert found["chat"]["text"] == "Hello."
    assert all(body["temperature"] == 0 for key, body in api.asked if key.startswith("POST"))


def test_mtp_quality_of_a_server_that_answers_nothing() -> None:
    api = Api.good(**{"POST /v1/chat/completions": (500, b"oops"), "GET /metrics": (404, b"")})
    with serving(api) as server:
        found = quality.run_mtp(server, "", snapshot_s=0.0)
    assert (found["rate"], found["metrics_status"], found["answers"]) == (None, 404, 0)
    assert found["errors"] == ["HTTP 500: oops"] * 8
    assert "chat" not in found


def test_a_fingerprint_tells_whether_it_is_stable() -> None:
    with serving(Api.good()) as server:
        found = quality.fingerprint(server, "The capital of France is")
    assert (found["text"], found["stable"], found["error"], len(found["sha256"])) == ("Paris.", True, "", 64)
    texts = iter("ab")
    with serving(Api.good(**{"POST /v1/completions": lambda body: completion(next(texts))})) as server:
        assert quality.fingerprint(server, "x")["stable"] is False
    with serving(Api.good(**{"POST /v1/completions": (400, b"no")})) as server:
        assert quality.fingerprint(server, "x")["error"] == "HTTP 400: no"
    assert quality.fingerprint(server, "x")["error"] == "connection refused"


# --- modes


def ran(capsys: pytest.CaptureFixture[str], mode: str, order: Mapping[str, Any]) -> tuple[int, Any]:
    code = main([mode, json.dumps(order)])
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("@@ATOMRUN ")
    return code, json.loads(line.removeprefix("@@ATOMRUN "))


def test_every_question_is_a_mode(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("0\n"))  # what stops a server is told its grace there
    with serving(Api.good(**{"GET /metrics": (200, METRICS)})) as server:
        base = {"host": server.host, "port": server.port, "model": MODEL, "health_path": "/health"}
        extra = {
            "functional": {"api_smoke": True, "health_check": False},
            "needle": {"isl": 200, "osl": 8, "num_prompts": 1, "seed": 1},
            "mtp": {"prompt": ""},
            "fingerprint": {"prompt": "x"},
            "cache": {},
            "weights": {"models_dir": str(tmp_path)},
            "free": {"ports": [server.port]},
            "alive": {"seconds": 5.0},
            "gone": {"job": "r/x", "record": str(tmp_path / "none"), "ports": [server.port, 1]},
            "stop": {"job": "r/x", "record": str(tmp_path / "none"), "grace_s": 0},
            "accept": {"address": "127.0.0.1", "port": server.port, "count": 1, "seconds": 0.0},
            "connect": {"address": "127.0.0.1", "port": server.port, "seconds": 1.0},
            "ready": {"deadline_s": 5, "job": "r/x", "record": str(tmp_path / "none")},
        }
        assert extra.keys() == MODES.keys()
        answers = {}
        for mode, more in extra.items():
            code, said = ran(capsys, mode, {**base, **more})
            assert code == 0, mode
            answers[mode] = said["answer"]
    assert list(answers["functional"]) == ["api_smoke"]
    assert answers["gone"] == {"pids": [], "ports": [server.port]}
    assert answers["stop"] == {"left": []}
    assert "cannot listen" in answers["accept"]["fault"]
    assert answers["ready"]["rung"] == "listener", "this server is no job of ours"


def test_a_server_that_cannot_be_asked_at_all_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Api.good()) as server:
        pass
    order = {"host": server.host, "port": server.port, "model": MODEL, "prompt": ""}
    assert ran(capsys, "mtp", order) == (1, {"error": "connection refused"})


def test_a_server_that_breaks_off(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unreachable):
        Server("127.0.0.1", 1, MODEL).get("/health", 1.0)


@pytest.mark.parametrize(
    ("status", "text", "queries", "hits"),
    [
        (
            200,
            b'vllm:prefix_cache_queries_total{engine="0"} 10\nvllm:prefix_cache_hits_total{engine="0"} 4\n',
            10,
            4,
        ),
        (200, b"vllm:gpu_prefix_cache_queries_total 10\nvllm:gpu_prefix_cache_hits_total 3\n", 10, 3),
        (200, b"atom:prefix_cache_full_tokens_total 9\natom:prefix_cache_cached_tokens_total 2\n", 9, 2),
        (200, b"sglang:prompt_tokens_total 8\nsglang:cached_tokens_total 1\n", 8, 1),
        (200, b"sglang:prompt_tokens_total 8\n", None, None),
        (404, b"Not Found", None, None),
    ],
)
def test_what_engines_tell_of_their_prefix_cache(
    status: int, text: bytes, queries: float | None, hits: float | None
) -> None:
    with serving(Api({"GET /metrics": (status, text)})) as server:
        order = {"host": server.host, "port": server.port, "model": server.model}
        assert MODES["cache"](order) == {"queries": queries, "hits": hits}
