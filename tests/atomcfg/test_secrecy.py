"""Secrets in a configuration: where they are seen, and that no rendering shows one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.documents import Document
from atomcfg.render.github import render_github
from atomcfg.render.json import render_json
from atomcfg.render.sarif import render_sarif
from atomcfg.render.text import render_text
from atomcfg.secrecy import find_secrets

from .badcases import BAD
from .compiling import cluster, compile_document

FORM = "hf_" + "A1b2C3d4E5f6G7h8"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"env": {"HF_TOKEN": "x"}}, ("env", "HF_TOKEN")),
        ({"env_vars": {"MY_SECRET": 5}}, ("env_vars", "MY_SECRET")),
        ({"env": {"db_password": "x"}}, ("env", "db_password")),
        ({"a": [{"b": f"x {FORM}"}]}, ("a", 0, "b")),
        ({"extra_args": ["-e", "TOKEN=x"]}, ("extra_args", 1)),
        ({"atom_args": ["--api-key", "x"]}, ("atom_args", 1)),
        ({"add_flags": ["--hf_token=x"]}, ("add_flags", 0)),
        ({"bench_extra_args": "--header API_KEY=x"}, ("bench_extra_args",)),
    ],
)
def test_found(value: object, path: tuple[str | int, ...]) -> None:
    assert [place for place, _ in find_secrets(Document(value, {}))] == [path]


@pytest.mark.parametrize(
    "value",
    [
        {"env": {"HF_TOKEN": ""}},
        {"env": {"HF_TOKEN": None}},
        {"env": {"TOKENIZERS_PARALLELISM": "false", "MAX_TOKENS": "5"}},
        {"_env": {"HF_TOKEN": "x"}},
        {"paths": {"hf_token_file": "/h/.hf_token"}},
        {"atom_args": ["--max-num-batched-tokens", "8192", "--token", "--x"]},
        {"extra_args": ["-e", "HF_TOKEN"]},
        {"a": "hf_short"},
    ],
)
def test_not_found(value: object) -> None:
    assert list(find_secrets(Document(value, {}))) == []


def test_no_rendering_shows_one() -> None:
    folder = BAD / "A556-token-beside-another-fault"
    result = compile_document((folder / "config.json").read_bytes(), cluster_file=cluster())
    assert {item.code for item in result.diagnostics} == {"A206", "A556"}
    for render in (render_text, render_json, render_sarif, render_github):
        assert "abcdef123" not in render(result.diagnostics)


@given(
    st.text("abcdefghij0123456789./+\\\"' é", min_size=4, max_size=30).filter(lambda text: text.strip() != ""),
    st.sampled_from(("{", '{"env": 5, ', '{"roles": {"server": {"env": {"A-B": 1, ')),
    st.sampled_from((None, 2)),
)
def test_a_broken_text_does_not_show_one(secret: str, start: str, indent: int | None) -> None:
    member = json.dumps({"HF_TOKEN": secret}, indent=indent)[1:-1]
    for text in (f"{start}{member}", f"{start}{member},}}", f"{start}{member}, {member}}}}}}}"):
        result = compile_document(text)
        assert result.plan is None
        for item in result.diagnostics:
            assert json.dumps(secret)[1:-1] not in f"{item.summary}{item.hint}{item.span.text}"
