"""A small real HTTP server that answers as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field

from atomrun.node.probe.web import Server

__all__ = ["Api", "completion", "serving"]

MODEL = "org/model"

Answer = tuple[int, Any]


def completion(text: str, chat: bool = False, tokens: int = 7, finish: str = "stop") -> Answer:
    choice: dict[str, Any] = {"finish_reason": finish}
    choice |= {"message": {"content": text}} if chat else {"text": text}
    return 200, {"choices": [choice], "usage": {"prompt_tokens": tokens}}


@define
class Api:
    """Answers by "METHOD path": a status and a JSON value (or bytes), or a function of the request's body."""

    answers: dict[str, Answer | Callable[[Mapping[str, Any]], Answer]] = field(factory=dict)
    asked: list[tuple[str, Any]] = field(factory=list)

    @classmethod
    def good(cls, **changes: Any) -> Api:
        """An OpenAI-compatible server at its best."""

        def complete(body: Mapping[str, Any]) -> Answer:
            if body["model"] != MODEL:
                return 404, {"error": {"message": "no such model"}}
            if body.get("stream"):
                pieces = b"".join(
                    b"data: " + json.dumps({"choices": [{"text": word}]}).encode() + b"\n\n"
                    for word in ("One", " two")
                )
                return 200, pieces + b'data: {"choices": [], "usage": {}}\n\ndata: [DONE]\n\n'
            return completion("Paris.")

        answers: dict[str, Any] = {
            "GET /health": (200, b""),
            "GET /v1/models": (200, {"data": [{"id": MODEL}]}),
            "POST /v1/completions": complete,
            "POST /v1/chat/completions": completion("Hello.", chat=True),
            "GET /metrics": (200, b""),
        }
        return cls(answers | changes)


@contextmanager
def serving(api: Api) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            key = f"{self.command} {self.path}"
            api.asked.append((key, body))
            found = api.answers.get(key, (404, {"detail": "Not Found"}))
            status, value = found(body) if callable(found) else found
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = answer  # noqa: N815 - the base class's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            """Not on a test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield Server("127.0.0.1", server.server_port, MODEL)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
