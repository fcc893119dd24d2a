"""The plan's options against the help of the programs in a real image."""

from __future__ import annotations

import pytest

from .bench import CELLS, DISTRIBUTED, Bench
from .checks import assert_clean
from .node import Node

pytestmark = pytest.mark.usefixtures("tidy")


def test_an_option_that_the_image_does_not_know_ends_the_run_before_a_gpu_is_held(bench: Bench, node: Node) -> None:
    plan = bench.plan(CELLS, 'roles.server.atom_args=["-tp","1","--kv_cache_dtpye","fp8"]')
    done = bench.tool("atomrun", "preflight", str(plan))
    assert done.code == 3, done.err
    assert "atom.entrypoints.openai_server in" in done.err
    assert "has no option --kv_cache_dtpye" in done.err
    assert "did you mean --kv-cache-dtype?" in done.err
    assert "finding flags ok" in done.err, "the client's options are right"
    assert node.containers() == []
    assert_clean(node)


def test_help_is_asked_for_in_full(bench: Bench, node: Node) -> None:
    done = bench.tool("atomrun", "preflight", str(bench.plan(config=DISTRIBUTED, nodes=2)))
    assert done.code == 0, done.err
    assert "options of python3 -m vllm.entrypoints.cli.main serve" in done.err
    assert "not checked" not in done.err
    assert node.containers() == []
