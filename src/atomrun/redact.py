"""Takes secrets out of everything that is collected or written: by value in every usual encoding, and by shape."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from .secrets import Secret

__all__ = ["Redactor"]

MASK = b"****"
_SHORTEST_PART = 4  # of a secret that was cut; fewer bytes stand at the end of many a text
_LONG_ENOUGH = 8  # an encoded fragment of fewer bytes would match by chance

# Hugging Face tokens and bearer headers, for secrets that are not ours to know.
_SHAPES = re.compile(rb"\bhf_[A-Za-z0-9]{8,}\b|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}")


class Redactor:
    """Replaces what the known secrets look like, raw, in base64 at any alignment, URL, JSON or hex form."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret.reveal())}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._forms = [form for form in longest_first if len(form) > _SHORTEST_PART]
        self._known = re.compile(b"|".join(map(re.escape, longest_first))) if longest_first else None

    def data(self, data: bytes) -> bytes:
        """`data` without secrets."""
        if self._known is not None:
            data = self._known.sub(MASK, data)
        return _SHAPES.sub(MASK, data)

    def excerpt(self, data: bytes) -> bytes:
        """A piece of something longer, without secrets, and without what a cut left of one at the ends."""
        data = self.data(data)
        first = max((_overlap(form, data) for form in self._forms), default=0)
        last = max((_overlap(data, form) for form in self._forms), default=0)
        return MASK * bool(first) + data[first : len(data) - last] + MASK * bool(last)

    def text(self, text: str) -> str:
        """`text` without secrets."""
        return self.data(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _overlap(left: bytes, right: bytes) -> int:
    """The length of the longest end of `left` that `right` begins with, unless it is too short to say anything."""
    most = min(len(left), len(right))
    return next((size for size in range(most, _SHORTEST_PART - 1, -1) if left[-size:] == right[:size]), 0)


def _forms(value: bytes) -> set[bytes]:
    forms = {value}
    if len(value) < _LONG_ENOUGH:
        return forms
    text = value.decode("latin-1")
    forms |= {form.encode("latin-1") for form in (quote(text, safe=""), quote_plus(text), json.dumps(text)[1:-1])}
    forms |= {value.hex().encode(), value.hex().upper().encode(), value[::-1]}
    for shift in range(3):
        forms |= _base64_forms(value, shift)
    return forms


def _base64_forms(value: bytes, shift: int) -> set[bytes]:
    """The characters that `value` alone decides when it starts `shift` bytes after a multiple of three."""
    encoded = base64.b64encode(b"\0" * shift + value)
    first = -(-8 * shift // 6)
    last = 8 * (shift + len(value)) // 6
    middle = encoded[first:last]
    return {middle, middle.translate(bytes.maketrans(b"+/", b"-_"))}
