"""The words of the conversation with a node's agent. Pure: bytes in, frames out, and the reverse."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from attrs import define, field, frozen

__all__ = ["Answer", "Frame", "Unframer", "encoded", "request"]

_NOISE_KEPT = 2000  # characters of foreign output kept for the error message
_LONGEST = 1 << 16  # a line of ours is far shorter; more without a newline is noise


@frozen
class Frame:
    """One line of an answer: to request `id`, of kind I (key and value), O or E (data), END (word and message)."""

    id: int
    kind: str
    rest: str


class Unframer:
    """Finds frames in what a node writes; everything without our nonce is noise and kept aside, shortened."""

    def __init__(self, nonce: str) -> None:
        self._mark = f"@@{nonce} ".encode()
        self._rest = b""
        self.noise = b""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames completed by `data`."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST:
            self._set_aside(self._rest)
            self._rest = b""
        frames = []
        for line in lines:
            frame = self._frame(line)
            if frame is None:
                self._set_aside(line)
            else:
                frames.append(frame)
        return frames

    def _frame(self, line: bytes) -> Frame | None:
        if not line.startswith(self._mark):
            return None
        number, _, rest = line[len(self._mark) :].decode("utf-8", "replace").partition(" ")
        kind, _, rest = rest.partition(" ")
        return Frame(int(number), kind, rest) if number.isdecimal() else None

    def _set_aside(self, line: bytes) -> None:
        if line.strip():
            self.noise = (self.noise + line + b"\n")[-_NOISE_KEPT:]


@define
class Answer:
    """What a request brought. `word` is "" until its last line has come; "ok", or why the node declined."""

    info: list[tuple[str, str]] = field(factory=list)
    out: bytearray = field(factory=bytearray)
    err: bytearray = field(factory=bytearray)
    word: str = ""
    message: str = ""

    def add(self, frame: Frame) -> None:
        """Take in one frame. Raises `ValueError` if it is damaged."""
        match frame.kind:
            case "I":
                key, _, value = frame.rest.partition(" ")
                self.info.append((key, value))
            case "O":
                self.out += _decoded(frame.rest)
            case "E":
                self.err += _decoded(frame.rest)
            case "END":
                word, _, message = frame.rest.partition(" ")
                self.message = _decoded(message).decode("utf-8", "replace")
                self.word = word
            case _:
                raise ValueError(f"unknown kind of answer: {frame.kind!r}")

    def get(self, key: str, default: str = "") -> str:
        """The last value said for `key`."""
        return next((value for said, value in reversed(self.info) if said == key), default)

    def all(self, key: str) -> tuple[str, ...]:
        """Every value said for `key`, in order."""
        return tuple(value for said, value in self.info if said == key)


def request(number: int, run: str, command: str, args: Sequence[str], payload: bytes) -> bytes:
    """A request as bytes. `args` must be plain words (see `encoded`)."""
    line = " ".join((str(number), str(len(payload)), run or "-", command, *args))
    return line.encode() + b"\n" + payload


def encoded(text: str | bytes) -> str:
    """Any text as one plain word; `-` for nothing."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return base64.b64encode(data).decode() or "-"


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"damaged data from the node: {error}") from None
