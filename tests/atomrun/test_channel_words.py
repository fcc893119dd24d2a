"""The words of the conversation, and what failures are called. Pure."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomrun.channel import explain
from atomrun.channel.wire import Answer, Frame, Unframer, encoded, request

# --- frames


@pytest.mark.parametrize(
    ("data", "frames", "noise"),
    [
        (b"@@n 1 END ok\n", [Frame(1, "END", "ok")], b""),
        (b"\n@@n 0 I a b c\n@@n 12 O eA==\n", [Frame(0, "I", "a b c"), Frame(12, "O", "eA==")], b""),
        (b"Welcome!\n@@n 1 END ok\nbye\n", [Frame(1, "END", "ok")], b"Welcome!\nbye\n"),
        (b"partial@@n 1 END ok\n", [], b"partial@@n 1 END ok\n"),
        (b"@@other 1 END ok\n@@n x END ok\n@@n\n", [], b"@@other 1 END ok\n@@n x END ok\n@@n\n"),
        (b"\xff\xfe\n@@n 1 END ok", [], b"\xff\xfe\n"),
    ],
)
def test_frames_are_told_from_noise(data: bytes, frames: list[Frame], noise: bytes) -> None:
    unframer = Unframer("n")
    assert unframer.feed(data) == frames
    assert unframer.noise == noise


@given(st.lists(st.integers(1, 60)))
def test_frames_come_in_any_pieces(cuts: list[int]) -> None:
    data = b"noise\n@@n 1 I key value\n@@n 1 O eHl6\n@@n 1 END ok\n"
    places = [0, *sorted({min(cut, len(data)) for cut in cuts}), len(data)]
    unframer = Unframer("n")
    frames = [frame for start, end in itertools.pairwise(places) for frame in unframer.feed(data[start:end])]
    assert frames == [Frame(1, "I", "key value"), Frame(1, "O", "eHl6"), Frame(1, "END", "ok")]


def test_endless_noise_is_not_kept() -> None:
    unframer = Unframer("n")
    for _ in range(100):
        assert unframer.feed(b"x" * 10_000) == []
    assert len(unframer.noise) <= 2000
    assert unframer.feed(b"\n@@n 1 END ok\n") == [Frame(1, "END", "ok")]


def test_an_answer_is_put_together() -> None:
    answer = Answer()
    for kind, rest in (
        ("I", "k 1"),
        ("I", "k 2 3"),
        ("O", "YQ=="),
        ("O", "Yg=="),
        ("E", "Yw=="),
        ("END", "disk ZnVsbA=="),
    ):
        assert answer.word == ""
        answer.add(Frame(1, kind, rest))
    assert answer == Answer([("k", "1"), ("k", "2 3")], bytearray(b"ab"), bytearray(b"c"), "disk", "full")
    assert (answer.get("k"), answer.all("k"), answer.get("x")) == ("2 3", ("1", "2 3"), "")


@pytest.mark.parametrize("frame", [Frame(1, "O", "@"), Frame(1, "O", "YQ"), Frame(1, "X", "")])
def test_a_damaged_answer_is_refused(frame: Frame) -> None:
    with pytest.raises(ValueError, match=r"damaged data|unknown kind"):
        Answer().add(frame)


def test_requests_are_lines_with_payload() -> None:
    assert request(7, "", "get", ("/a/b", "0"), b"") == b"7 0 - get /a/b 0\n"
    assert request(8, "run-1", "put", ("x",), b"a\nb") == b"8 3 run-1 put x\na\nb"
    assert (encoded("é\n"), encoded(b""), encoded("")) == ("w6kK", "-", "-")


# --- reasons


@pytest.mark.parametrize(
    ("said", "reason", "passing"),
    [
        ("Permission denied (publickey).", "auth", False),
        ("root@10.0.0.11: Permission denied (publickey,password).", "auth", False),
        ("Received disconnect from 10.0.0.9 port 22:2: Too many authentication failures", "auth", False),
        ("ssh: connect to host 10.0.0.12 port 22: Connection refused", "unreachable", False),
        ("ssh: connect to host 10.0.0.13 port 22: No route to host", "unreachable", False),
        ("ssh: connect to host 10.0.0.14 port 22: Connection timed out", "unreachable", False),
        ("Connection timed out during banner exchange", "unreachable", False),
        ("ssh: Could not resolve hostname nope: Name or service not known", "unreachable", False),
        ("Host key verification failed.", "host_key", False),
        ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", "host_key", False),
        ("kex_exchange_identification: Connection closed by remote host", "unreachable", True),
        ("Connection closed by 10.0.0.15 port 22", "unreachable", True),
        ("client_loop: send disconnect: Broken pipe", "unreachable", True),
    ],
)
def test_what_ssh_says_is_understood(said: str, reason: str, passing: bool) -> None:
    failure = explain("gpu-a", said)
    assert (failure.reason, failure.passing) == (reason, passing)
    assert failure.message in said
    assert "gpu-a" in failure.hint


@pytest.mark.parametrize(
    ("errors", "noise", "message"),
    [
        ("", "", "the login shell ended before the agent spoke"),
        ("bash: oops", "", "the login shell ended before the agent spoke; it said: bash: oops"),
        ("x", "Hello\nThis account is currently not available.\n", "This account is currently not available."),
    ],
)
def test_otherwise_the_shell_is_to_blame(errors: str, noise: str, message: str) -> None:
    failure = explain("gpu-a", errors, noise)
    assert failure.reason == "shell"
    assert failure.message.endswith(message)
    assert "start-up files" in failure.hint
