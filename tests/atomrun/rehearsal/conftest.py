"""The stand-ins are importable here under the engines' names, as they are where they run."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from .running import ENGINES, Engine, start

sys.path.insert(0, str(ENGINES))


@pytest.fixture(scope="session")
def atom() -> Iterator[Engine]:
    """A running ATOM server, with speculation."""
    with start("atom", ["--method", "mtp", "--num-speculative-tokens", "3"]) as engine:
        yield engine


@pytest.fixture(scope="session")
def vllm() -> Iterator[Engine]:
    """A running vLLM server, with speculation."""
    with start("vllm", ["--spec-tokens", "2", "--max-model-len", "4096"]) as engine:
        yield engine


@pytest.fixture(scope="session")
def sglang() -> Iterator[Engine]:
    """A running SGLang server."""
    with start("sglang", ["--enable-metrics"]) as engine:
        yield engine
