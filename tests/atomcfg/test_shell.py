from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.shell import quoted


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        ([], ""),
        (["ls", "-l", "/var/tmp"], "ls -l /var/tmp"),
        (["echo", ""], "echo ''"),
        (["echo", "a b"], "echo 'a b'"),
        (["echo", "it's"], "echo 'it'\\''s'"),
        (["echo", "$(id)", "`id`", "$HOME", "a;b", "*"], "echo '$(id)' '`id`' '$HOME' 'a;b' '*'"),
        (["A=b", "--x=1,2", "u@h:p", "50%"], "A=b --x=1,2 u@h:p 50%"),
        (["~", "#x", "a\nb", "é"], "'~' '#x' 'a\nb' 'é'"),
    ],
)
def test_text(argv: list[str], text: str) -> None:
    assert quoted(argv) == text


def test_refuses_nul() -> None:
    with pytest.raises(ValueError, match="NUL"):
        quoted(["a\0b"])


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_words_come_back(argv: list[str]) -> None:
    assert shlex.split(quoted(argv)) == argv


@given(st.lists(st.binary(max_size=20).map(lambda raw: raw.replace(b"\0", b"")), min_size=1, max_size=5))
def test_a_shell_reads_any_bytes_back(words: list[bytes]) -> None:
    text = quoted([word.decode("utf-8", "surrogateescape") for word in words])
    script = f"printf '%s\\0' {text}".encode("utf-8", "surrogateescape")
    assert subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout.split(b"\0")[:-1] == words
