"""Reading secrets: what editors leave is dropped; what is doubtful is refused, without being repeated."""

from __future__ import annotations

import copy
import json
import pickle
import traceback
from pathlib import Path

import pytest

from atomcfg.plan import SecretRef
from atomrun.secrets import Secret, SecretError, read_secret

TOKEN = b"hf_EXAMPLEcanary0001"


def ref(path: Path, required: bool = True) -> SecretRef:
    return SecretRef("hf_token", str(path), required)


@pytest.mark.parametrize(
    "data", [TOKEN, TOKEN + b"\n", TOKEN + b"\r\n", b"\xef\xbb\xbf" + TOKEN, b"  " + TOKEN + b"\t\n\n"]
)
def test_what_surrounds_a_token_is_dropped(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "token").write_bytes(data)
    secret = read_secret(ref(tmp_path / "token"))
    assert secret is not None
    assert secret.reveal() == TOKEN


@pytest.mark.parametrize(
    "data",
    [b"", b" \n", TOKEN + b" x", TOKEN + b"\n" + TOKEN, TOKEN + b"\x00", "tökén".encode(), b"\xff\xfeh\0f\0"],
)
def test_what_is_no_token_is_refused_without_being_repeated(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "token").write_bytes(data)
    with pytest.raises(SecretError) as caught:
        read_secret(ref(tmp_path / "token"))
    shown = f"{caught.value} {caught.value!r} {caught.value.hint}"
    assert "canary" not in shown
    assert str(tmp_path / "token") in shown


def test_an_absent_file_matters_only_if_it_is_required(tmp_path: Path) -> None:
    assert read_secret(ref(tmp_path / "none", required=False)) is None
    with pytest.raises(SecretError, match="no such file"):
        read_secret(ref(tmp_path / "none"))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match="Is a directory"):
        read_secret(ref(tmp_path, required=False))


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret("hf_token", TOKEN)
    for shown in (str(secret), repr(secret), f"{secret}", f"{[secret]}", f"{secret!r}"):
        assert "canary" not in shown
        assert "hf_token" in shown


def test_no_rendering_of_a_secret_shows_it() -> None:
    secret = Secret("token", b"hf_canary_0001")
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r:>40}",
        f"{secret}",
        json.dumps([secret], default=str),
    ]
    shown += [str([secret]), str(KeyError(secret)), "".join(traceback.format_exception(ValueError(secret)))]
    assert not [text for text in shown if "canary" in text]
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copied(secret)
    with pytest.raises(TypeError):
        vars(secret)
