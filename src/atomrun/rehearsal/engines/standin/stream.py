"""One measured request: what comes back is timed as it arrives."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import AsyncIterator, Callable

import aiohttp

from .dialect import Json
from .load import Shot
from .words import count

__all__ = ["get_json", "get_text", "post", "read_completion", "session"]

Reader = Callable[[Shot, Json, float], bool]


def session() -> aiohttp.ClientSession:
    """A client session without limits of its own: concurrency is the caller's business."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=6 * 3600), read_bufsize=1 << 20
    )


async def post(http: aiohttp.ClientSession, url: str, payload: Json, read: Reader) -> Shot:
    """Send one streamed request. `read(shot, frame, now)` looks at each frame and says whether it had text.

    A failure is a shot that is not ok, with what the real clients keep of it.
    """
    shot = Shot(started=time.perf_counter())
    last = shot.started
    try:
        async with http.post(url, json=payload) as response:
            if response.status != 200:
                shot.error = response.reason or ""
                return shot
            async for frame in _frames(response):
                now = time.perf_counter()
                if read(shot, frame, now - last):
                    last = now
                    shot.ttft = shot.ttft or now - shot.started
        shot.latency = last - shot.started
        shot.ok = shot.ttft > 0.0
        if not shot.ok:
            shot.error = shot.error or "Never received a valid chunk to calculate TTFT."
    except (aiohttp.ClientError, OSError, ValueError, LookupError):
        shot.error = traceback.format_exc()
    return shot


def read_completion(shot: Shot, frame: Json, gap: float) -> bool:
    """A frame of OpenAI's stream: text or chat delta, and token counts if it has any."""
    used = frame.get("usage")
    if used:
        shot.prompt_tokens, shot.output_tokens = used["prompt_tokens"], used["completion_tokens"]
    choices = frame.get("choices")
    if not choices:
        return False
    said = choices[0].get("text") or (choices[0].get("delta") or {}).get("content")
    if not said:
        return False
    if shot.ttft:
        shot.gaps.append((gap / (many := count(said)), many))
    shot.text += said
    return True


async def _frames(response: aiohttp.ClientResponse) -> AsyncIterator[Json]:
    rest = b""
    async for chunk in response.content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n\n")
        for event in whole:
            data = event.strip().removeprefix(b"data: ")
            if data and data != b"[DONE]":
                yield json.loads(data)


async def get_json(http: aiohttp.ClientSession, url: str) -> Json | None:
    """The JSON body behind a URL; None if there is none to be had."""
    try:
        async with http.get(url) as response:
            return await response.json() if response.status == 200 else None
    except (aiohttp.ClientError, OSError, ValueError):
        return None


async def get_text(http: aiohttp.ClientSession, url: str) -> str:
    """The text behind a URL; empty if there is none to be had."""
    try:
        async with http.get(url) as response:
            return await response.text() if response.status == 200 else ""
    except (aiohttp.ClientError, OSError, ValueError):
        return ""
