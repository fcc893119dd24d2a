"""Redaction: by value in every usual encoding, at any place, and by shape."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomrun.redact import Redactor
from atomrun.secrets import Secret

TOKEN = b'tok/EXAMPLE+canary"0001'
REDACTOR = Redactor([Secret("t", TOKEN)])


@pytest.mark.parametrize(
    "form",
    [
        TOKEN,
        quote(TOKEN.decode(), safe="").encode(),
        json.dumps(TOKEN.decode()).encode(),
        TOKEN.hex().encode(),
        TOKEN.hex().upper().encode(),
        TOKEN[::-1],
    ],
)
def test_every_form_is_found(form: bytes) -> None:
    cleaned = REDACTOR.data(b"before " + form + b" after")
    assert form not in cleaned
    assert cleaned.startswith(b"before ")
    assert cleaned.endswith(b" after")


@given(st.binary(max_size=12), st.binary(max_size=12), st.booleans())
def test_base64_is_found_at_any_alignment(before: bytes, after: bytes, url: bool) -> None:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    encoded = encode(before + TOKEN + after)
    cleaned = REDACTOR.data(b"Basic " + encoded)
    # Whatever the neighbours are, too little is left to give the token back.
    left = cleaned.partition(b"****")
    assert left[1] == b"****"
    assert encode(TOKEN)[4:-4] not in cleaned


@given(st.text())
def test_text_without_secrets_is_untouched(text: str) -> None:
    assert Redactor([Secret("t", b"\x01never\x02")]).text(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("token hf_AbCdEfGh12345 used", "token **** used"),
        ("Authorization: Bearer abcDEF123.456-789", "Authorization: Bearer ****"),
        ("hf_hub is a word", "hf_hub is a word"),
        ("non-default args: {'hf_token': 'hf_EXAMPLEcanary0001'}", "non-default args: {'hf_token': '****'}"),
    ],
)
def test_tokens_of_others_are_known_by_their_shape(text: str, cleaned: str) -> None:
    assert Redactor().text(text) == cleaned


def test_a_short_secret_is_found_as_it_stands_only() -> None:
    assert Redactor([Secret("pin", b"4711")]).text("4711 and 34373131") == "**** and 34373131"


def test_bytes_that_are_no_text_survive() -> None:
    assert REDACTOR.data(b"\xff\xfe" + TOKEN) == b"\xff\xfe****"


@pytest.mark.parametrize("size", range(4, 20))
def test_what_a_cut_leaves_of_a_secret_is_masked(size: int) -> None:
    value = b"hf_canary_0001_xyz_98"
    redactor = Redactor([Secret("t", value)])
    for form in (value, base64.b64encode(value), value.hex().encode()):
        assert form[:size] not in redactor.excerpt(b"token=" + form[:size])
        assert form[-size:] not in redactor.excerpt(form[-size:] + b" and more")
    assert redactor.excerpt(b"nothing to hide, he said: hf") == b"nothing to hide, he said: hf"
