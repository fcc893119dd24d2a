"""Whatever the texts hold: a plan or diagnostics, never an exception, never a hang."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg import Result, Severity
from atomcfg.catalogue import CATALOGUE
from atomcfg.render.json import render_json
from atomcfg.render.text import render_text

from ..compiling import LAB, cluster, compile_document  # noqa: TID252  # they lie one folder up
from .mutations import ODD, changed_bytes, changed_documents

pytestmark = pytest.mark.timeout(600)

LAB_ALL = LAB.replace("[values]", '[values]\nhead-node-ip = "10.0.0.1"\nchangeme-image = "rocm/atom:1"')
keys = st.sampled_from(
    ["params", "sweep", "sweeps", "runs", "roles", "server", "container", "paths", "model", "profiles", "perf",
     "server_params", "benchmark_params", "env", "atom_args", "accuracy", "tasks", "_c", "id", "driver"]
)  # fmt: skip
documents = st.recursive(
    st.sampled_from([item for item in ODD if not isinstance(item, list | dict)]) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | st.text(max_size=3), inner, max_size=5),
    max_leaves=20,
)


def compile_beside(path: Path, data: bytes, **options: Any) -> Result:
    """Compile `data` in the place of a real config, with that config's threshold files."""
    thresholds = {item.name: item.read_bytes() for item in sorted(path.parent.glob("*threshold.json"))}
    nodes = 2 if "distributed" in path.name else 1
    options = {"thresholds": thresholds, "cluster_file": cluster(nodes), "lab": LAB_ALL, **options}
    return compile_document(data, name=path.name, **options)


def holds(result: Result) -> None:
    """A plan without errors, or errors; each explained, in words, in order, once, and printable."""
    failed = any(item.severity is Severity.ERROR for item in result.diagnostics)
    assert (result.plan is None) is failed
    for item in result.diagnostics:
        assert item.code in CATALOGUE
        assert item.summary
    order = [(item.span.file, item.span.line, item.span.column) for item in result.diagnostics]
    assert order == sorted(order)
    assert len(set(result.diagnostics)) == len(result.diagnostics)
    render_text(result.diagnostics).encode()
    json.loads(render_json(result.diagnostics))


@given(changed_documents(), st.booleans())
def test_a_changed_config(changed: tuple[Path, bytes], dry_run: bool) -> None:
    holds(compile_beside(*changed, dry_run=dry_run))


@given(changed_bytes())
def test_a_broken_config(changed: tuple[Path, bytes]) -> None:
    holds(compile_beside(*changed))


@given(documents, st.booleans())
def test_any_document(value: Any, dry_run: bool) -> None:
    holds(compile_document(json.dumps(value).encode(), dry_run=dry_run))


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    holds(compile_document(data))
