"""The HTTP server of a stand-in: OpenAI's endpoints in an engine's dialect, timed by the latency model."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from http import HTTPStatus

from aiohttp import web

from .answers import answer
from .batch import Batch
from .console import say
from .dialect import Ask, Dialect, Json, Outcome, Refusal
from .faults import Faults
from .words import Reply

__all__ = ["Status", "application"]

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_COMPLETION_PATHS = ("/v1/completions", "/v1/chat/completions", "/generate")
_NOTHING = Outcome(text="", tokens=0, finish="", ttft=0.0, latency=0.0)
_NATURAL_LENGTH = (24, 200)  # tokens of an answer that may end when it likes: least, and how much more


@dataclass
class Status:
    """What /health tells: 503 while not ready."""

    ready: bool = True


def application(
    dialect: Dialect, batch: Batch, faults: Faults, status: Status, access_log: bool = True
) -> web.Application:
    """The application that speaks `dialect`."""
    app = web.Application(client_max_size=256 << 20)
    desk = _Desk(dialect, batch, faults, status)
    app.router.add_get("/health", desk.health)
    app.router.add_get("/v1/models", desk.models)
    app.router.add_get("/metrics", desk.metrics)
    for path in _COMPLETION_PATHS:
        app.router.add_post(path, desk.complete)
    for path, page in dialect.pages(batch).items():
        app.router.add_get(path, _page(page))
    app.on_response_prepare.append(_finish(dialect, access_log))
    return app


def _page(page: Callable[[], Json]) -> Handler:
    async def handler(_: web.Request) -> web.StreamResponse:
        return _json(page())

    return handler


def _finish(dialect: Dialect, access_log: bool) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """What happens to every response as it starts: the server's name, and the access log line."""

    async def prepare(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Server"] = "uvicorn"
        if not access_log:
            return
        peer = request.transport.get_extra_info("peername") if request.transport else None
        where = f"{peer[0]}:{peer[1]}" if peer else "-"
        phrase = HTTPStatus(response.status).phrase
        version = f"HTTP/{request.version.major}.{request.version.minor}"
        say(dialect.access(f'{where} - "{request.method} {request.path} {version}" {response.status} {phrase}'))

    return prepare


def _json(body: Json, status: int = 200) -> web.Response:
    return web.Response(
        text=json.dumps(body, separators=(",", ":")),
        status=status,
        content_type="application/json",
        charset="utf-8",
    )


def _frame(body: Json) -> bytes:
    return b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"


class _Desk:
    """The handlers of one server."""

    def __init__(self, dialect: Dialect, batch: Batch, faults: Faults, status: Status) -> None:
        self._dialect, self._batch, self._faults, self._status = dialect, batch, faults, status
        self._served = 0

    async def health(self, _: web.Request) -> web.StreamResponse:
        if not self._status.ready:
            return web.Response(status=503)
        body = self._dialect.health()
        return web.Response() if body is None else _json(body)

    async def models(self, _: web.Request) -> web.StreamResponse:
        return _json(self._dialect.models(int(time.time())))

    async def metrics(self, _: web.Request) -> web.StreamResponse:
        text = self._dialect.metrics(self._batch)
        if not text:
            return web.Response(status=404)
        return web.Response(text=text, content_type="text/plain", charset="utf-8")

    async def complete(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
        except ValueError:
            return _json({"detail": "There was an error parsing the body"}, 400)
        ask = self._dialect.parse(request.path, body)
        if isinstance(ask, Refusal):
            return _json(ask.body, ask.status)
        refusal = self._dialect.refuse(ask) or await self._misfortune()
        if refusal:
            return _json(refusal.body, refusal.status)
        if ask.stream:
            return await self._stream(request, ask)
        async with aclosing(self._pieces(ask)) as pieces:
            outcomes = [outcome async for _, outcome in pieces]
        return _json(self._dialect.whole(ask, outcomes[-1]))

    async def _misfortune(self) -> Refusal | None:
        """The faults that strike requests by their number; a server's own warm-up is spared."""
        if not self._status.ready:
            return None
        self._served += 1
        if self._faults.hang_completions:
            await asyncio.Event().wait()
        if self._faults.slow_every and self._served % self._faults.slow_every == 0:
            await asyncio.sleep(self._faults.slow_s)
        if self._faults.fail_every and self._served % self._faults.fail_every == 0:
            error = {
                "message": "stand-in: this request was asked to fail",
                "type": "InternalServerError",
                "code": 500,
            }
            return Refusal(500, {"error": error})
        return None

    async def _stream(self, request: web.Request, ask: Ask) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        dialect, outcome = self._dialect, _NOTHING
        for frame in dialect.opening(ask):
            await response.write(_frame(frame))
        async with aclosing(self._pieces(ask)) as pieces:
            async for text, outcome in pieces:
                await response.write(self._frames(ask, text, outcome))
        tail = [_frame(frame) for frame in dialect.closing(ask, outcome)]
        await response.write(b"".join([*tail, b"data: [DONE]\n\n"]))
        await response.write_eof()
        return response

    def _frames(self, ask: Ask, text: str, outcome: Outcome) -> bytes:
        first, _, last = text.rpartition(" ")
        if outcome.finish and self._dialect.split_last and first:
            return _frame(self._dialect.piece(ask, first, replace(outcome, finish=""))) + _frame(
                self._dialect.piece(ask, " " + last, outcome)
            )
        return _frame(self._dialect.piece(ask, text, outcome))

    async def _pieces(self, ask: Ask) -> AsyncGenerator[tuple[str, Outcome], None]:
        """Each new piece of text with the answer so far; the last one has a finish reason."""
        opening = answer(ask.prompt, ask.stop, self._batch.knobs.wrong_pct)
        reply = Reply(ask.prompt, opening)
        limit = max(1, ask.output_tokens or self._dialect.default_tokens(ask))
        wanted = limit if ask.ignore_eos else min(limit, _natural_length(ask.prompt, opening))
        outcome, started = _NOTHING, time.perf_counter()
        async with aclosing(self._batch.generate(ask.prompt_tokens, wanted)) as steps:
            async for tokens in steps:
                text, now = reply.take(tokens), time.perf_counter() - started
                done = outcome.tokens + tokens
                finish = "" if done < wanted else "length" if wanted == limit else "stop"
                outcome = Outcome(outcome.text + text, done, finish, outcome.ttft or now, now)
                yield text, outcome


def _natural_length(prompt: str, opening: str) -> int:
    least, more = _NATURAL_LENGTH
    return len(opening.split()) or least + zlib.crc32(prompt.encode()) % more
