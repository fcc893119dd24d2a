"""Configuration paths as people type them, and as messages show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.documents import dotted
from atomcfg.paths import parse_path


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("params", ("params",)),
        ("container.image", ("container", "image")),
        ("sweep.runs[0].concurrency", ("sweep", "runs", 0, "concurrency")),
        ('sweeps["ISL=1,OSL=1"]', ("sweeps", "ISL=1,OSL=1")),
        ('roles.server.env."A.B"', ("roles", "server", "env", "A.B")),
        ("serve_args.max-num-seqs", ("serve_args", "max-num-seqs")),
    ],
)
def test_parsed(text: str, steps: tuple[str | int, ...]) -> None:
    assert parse_path(text) == steps


@pytest.mark.parametrize("text", ["", ".params", "params.", "a..b", "[0].a", "a b", "a[x]", "a[-1]"])
def test_no_path(text: str) -> None:
    assert parse_path(text) is None


words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]*", fullmatch=True)


@given(st.lists(words | st.integers(0, 99), max_size=5), words)
def test_what_a_message_shows_can_be_typed(steps: list[str | int], first: str) -> None:
    path = (first, *steps)
    assert parse_path(dotted(path)) == path


@given(st.text(max_size=20))
def test_any_text_has_an_answer(text: str) -> None:
    steps = parse_path(text)
    assert steps is None or isinstance(steps[0], str)
