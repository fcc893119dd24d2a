"""The flat document becomes typed settings, defaults filled in."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from atomcfg.containers import read_container
from atomcfg.defaults import PARAMS, ParamKind
from atomcfg.diagnostics import Checked, Diagnostics
from atomcfg.documents import Document, JsonPath
from atomcfg.drivers import DRIVER_BY_ARGUMENT
from atomcfg.model import (
    AccuracyTaskSettings,
    Combo,
    NeedleSettings,
    Params,
    PathSettings,
    Run,
    ServerSettings,
    Settings,
)
from atomcfg.suggest import did_you_mean
from atomcfg.values import as_flag, as_int, as_text, env_text, is_open, plain

from .states import Built, Enlisted

__all__ = ["build"]

_ARGUMENTS = ("atom_args", "serve_args", "sglang_args")
_LOOSE_FLAGS = ("1", "0", "yes", "no")  # as CVS files write them
_PATHS = ("shared_fs", "models_dir", "log_dir", "hf_token_file")


def build(enlisted: Enlisted) -> Checked[Built]:
    """Typed settings of one profile. Values are only converted here; `govern` says what does not fit together."""
    found = Diagnostics()
    document, cluster = enlisted.flat.document, enlisted.cluster
    params = _params(document, found)
    container = None
    if cluster.orchestrator == "container":
        container = read_container(document, enlisted.flat.parsed.cluster, found)
    runs = _runs(document, found)
    if params is None or found.has_errors:
        return Checked(None, found.items)
    settings = Settings(
        stem=enlisted.flat.stem,
        profile=enlisted.flat.profile,
        gpu_arch=as_text(document.get("gpu_arch")),
        enforce_thresholds=as_flag(document.get("enforce_thresholds"), default=True),
        paths=PathSettings(*(as_text(document.get("paths", name)) for name in _PATHS)),
        model_id=as_text(document.get("model", "id")),
        model_remote=as_int(document.get("model", "remote")) == 1,
        precision=as_text(document.get("model", "precision")),
        container=container,
        server=_server(document),
        params=params,
        runs=runs,
        cluster=cluster,
        run_card=_texts(document.get("run_card")),
        document=document,
        **_blocks(document),
    )
    return Checked.of(Built(enlisted, settings), found)


def _params(document: Document, found: Diagnostics) -> Params | None:
    values: dict[str, Any] = {}
    for name, (kind, default) in PARAMS.items():
        raw = document.get("params", name)
        if kind is ParamKind.FLAG and raw in _LOOSE_FLAGS:
            meant = json.dumps(as_flag(raw))
            span = document.span(("params", name))
            found.warning("A413", f'"{raw}" is read as {meant}', span, f"write {meant}")
        values[name] = default if raw is None or is_open(raw) else _convert(raw, kind)
    driver = _driver(document, found)
    extra = _words(document, found)
    if driver is None or extra is None:
        return None
    baseline = document.get("params", "scaling_baseline_output_throughput")
    known = not (baseline is None or is_open(baseline))
    return Params(
        driver=driver,
        bench_extra_args=extra,
        scaling_baseline_output_throughput=float(as_text(baseline)) if known else None,
        **values,
    )


def _convert(raw: object, kind: ParamKind) -> object:
    if kind is ParamKind.COUNT:
        return as_int(raw)
    return as_flag(raw) if kind is ParamKind.FLAG else as_text(raw)


def _driver(document: Document, found: Diagnostics) -> str | None:
    stated = document.get("params", "driver")
    if isinstance(stated, str):
        return stated
    server = document.get("roles", "server")
    for argument, driver in DRIVER_BY_ARGUMENT.items():
        if isinstance(server, dict) and argument in server:
            span = document.span(("roles", "server", argument), key=True)
            hint = f'write "{driver}" as {document.called("params", "driver")}'
            found.warning("A421", f"no driver is stated; {argument} means {driver}", span, hint)
            return driver
    span = document.span(("params",), key=True)
    hint = f"write {document.called('params', 'driver')}"
    found.error("A422", "no driver is stated", span, hint)
    return None


def _words(document: Document, found: Diagnostics) -> tuple[str, ...] | None:
    text = document.get("params", "bench_extra_args")
    try:
        return () if is_open(text) else tuple(shlex.split(as_text(text)))
    except ValueError as error:
        span = document.span(("params", "bench_extra_args"))
        message = str(error)
        found.error("A423", f"bench_extra_args: {message[:1].lower()}{message[1:]}", span, "close the quotation")
        return None


def _server(document: Document) -> ServerSettings:
    server = document.get("roles", "server")
    stated = server if isinstance(server, dict) else {}
    hca, netdev = stated.get("ib_hca_devices"), stated.get("ib_netdev")
    env = stated.get("env")
    items = env.items() if isinstance(env, dict) else ()
    return ServerSettings(
        arguments={name: plain(stated[name]) for name in _ARGUMENTS if name in stated},
        env={name: env_text(value) for name, value in items if not name.startswith("_")},
        ib_hca_devices=tuple(as_text(name) for name in hca) if isinstance(hca, list) else (),
        ib_netdev=None if netdev in (None, "auto") else as_text(netdev),
        memory_fraction=None if stated.get("memory_fraction") is None else as_text(stated["memory_fraction"]),
        log_level=None if stated.get("log_level") is None else as_text(stated["log_level"]),
    )


def _runs(document: Document, found: Diagnostics) -> tuple[Run, ...]:
    combos: dict[str, Combo] = {}
    listed = document.get("sweep", "sequence_combinations")
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        combo = _combo(item)
        if combo.name in combos:
            span = document.span(("sweep", "sequence_combinations", index, "name"))
            found.error("A704", f'two combos are named "{combo.name}"', span, "rename one of them")
        combos[combo.name] = combo
    runs: list[Run] = []
    stated = document.get("sweep", "runs")
    for index, item in enumerate(stated if isinstance(stated, list) else []):
        path: JsonPath = ("sweep", "runs", index)
        name = as_text(item.get("combo"))
        if name not in combos:
            hint = did_you_mean(name, combos) or f"the combos are {', '.join(combos) or 'none'}"
            found.error("A705", f'no combo is named "{name}"', document.span((*path, "combo")), hint)
            continue
        runs.append(Run(combos[name], as_int(item.get("concurrency")), path))
    return tuple(runs)


def _combo(item: Mapping[str, object]) -> Combo:
    slo = item.get("goodput_slo")
    pairs = slo.items() if isinstance(slo, dict) else ()
    limits = tuple(
        (name.removesuffix("_ms"), float(as_text(value)))
        for name, value in sorted(pairs)
        if not (name.startswith("_") or is_open(value))
    )
    return Combo(as_text(item.get("name")), as_int(item.get("isl")), as_int(item.get("osl")), limits)


def _blocks(document: Document) -> dict[str, Any]:
    mtp = document.get("mtp_quality")
    quant = document.get("quant_parity")
    return {
        "api_smoke": as_flag(document.get("functional", "api_smoke")),
        "health_check": as_flag(document.get("functional", "health_check")),
        "dmesg_scan": as_flag(document.get("platform", "dmesg_scan")),
        "gpu_metrics_poll": as_flag(document.get("platform", "gpu_metrics_poll")),
        "accuracy": tuple(_task(item) for item in _items(document, "accuracy", "tasks")),
        "long_context": tuple(_needle(item) for item in _items(document, "long_context_accuracy", "cells")),
        "mtp_enabled": as_flag(document.get("mtp_quality", "enabled"), default=isinstance(mtp, dict)),
        "mtp_prompt": as_text(document.get("mtp_quality", "chat_template_prompt"), "Briefly introduce yourself."),
        "mtp_expected_sha256": as_text(document.get("mtp_quality", "chat_template_expected_sha256")),
        "quant_enabled": as_flag(document.get("quant_parity", "enabled"), default=isinstance(quant, dict)),
        "quant_prompt": as_text(document.get("quant_parity", "probe_prompt"), "The capital of France is"),
        "quant_reference": as_text(document.get("quant_parity", "reference_config_stem")),
    }


def _items(document: Document, *path: str) -> list[dict[str, object]]:
    value = document.get(*path)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _task(item: dict[str, object]) -> AccuracyTaskSettings:
    metadata, gen_kwargs = plain(item.get("metadata")), plain(item.get("gen_kwargs"))
    return AccuracyTaskSettings(
        id=as_text(item.get("id")),
        task=as_text(item.get("task")),
        num_fewshot=as_int(item.get("num_fewshot")),
        num_concurrent=as_int(item.get("num_concurrent"), 8),
        apply_chat_template=as_flag(item.get("apply_chat_template")),
        metadata=metadata if isinstance(metadata, dict) else {},
        include_path=as_text(item["include_path"]) if item.get("include_path") else None,
        gen_kwargs=gen_kwargs if isinstance(gen_kwargs, dict) else {},
        limit=as_int(item["limit"]) if item.get("limit") is not None else None,
    )


def _needle(item: dict[str, object]) -> NeedleSettings:
    return NeedleSettings(
        id=as_text(item.get("id")),
        isl=as_int(item.get("isl")),
        osl=as_int(item.get("osl"), 32),
        num_prompts=as_int(item.get("num_prompts"), 8),
        seed=as_int(item.get("seed"), 42),
    )


def _texts(value: object) -> dict[str, str]:
    items = value.items() if isinstance(value, dict) else ()
    return {key: as_text(item) for key, item in items if not key.startswith("_")}
