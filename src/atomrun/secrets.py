"""Secrets on the launcher: read once, masked wherever they are shown, handed to nodes on standard input only."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from atomcfg.plan import SecretRef

__all__ = ["Secret", "SecretError", "read_secret"]

_BOM = b"\xef\xbb\xbf"


class SecretError(Exception):
    """A secret's file cannot be used. The text never repeats what the file holds."""

    def __init__(self, ref: SecretRef, message: str, hint: str) -> None:
        super().__init__(f"{ref.name}: {message}")
        self.hint = hint


class Secret:
    """A secret's value. Only `reveal` gives it away; text forms of this object are masked."""

    __slots__ = ("_value", "name")

    def __init__(self, name: str, value: bytes) -> None:
        self.name = name
        self._value = value

    def reveal(self) -> bytes:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self.name}: ****)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled, nor copied")


def read_secret(ref: SecretRef) -> Secret | None:
    """The secret that `ref` points at; None if its file does not exist and is not required.

    A byte order mark and surrounding white space are dropped: editors and Windows leave them. White space or
    control characters within, or bytes that no HTTP header can carry, are an error.
    """
    path = Path(ref.file)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        if not ref.required:
            return None
        raise SecretError(ref, f"no such file on the launcher: {path}", "put the token into that file") from None
    except OSError as error:
        raise SecretError(ref, f"cannot read {path}: {error.strerror}", f"chmod u+r {path}") from None
    value = raw.removeprefix(_BOM).strip()
    if not value:
        raise SecretError(ref, f"{path} is empty", "put the token into that file")
    if any(byte <= 0x20 or byte >= 0x7F for byte in value):
        raise SecretError(
            ref,
            f"{path} holds more than one printable ASCII word",
            "the file must hold the token alone, on one line, as UTF-8",
        )
    return Secret(ref.name, value)
