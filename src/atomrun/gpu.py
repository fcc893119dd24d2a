"""What amd-smi and rocm-smi say about the GPUs, over their versions. Pure.

A missing value is "N/A", or an object whose value is "N/A", or a whole section "N/A"; 0 is a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

__all__ = ["Sample", "lately", "parse_poll", "summary"]

_MB = 1 << 20


@frozen
class Sample:
    """One GPU at one moment. `uptime` is the node's, in seconds; None where the tool does not say."""

    uptime: float
    gpu: str
    memory_mb: float | None
    compute_pct: float | None
    bandwidth_pct: float | None
    power_w: float | None


def parse_poll(text: str) -> tuple[Sample, ...]:
    """The samples of a poll's output (`node/scripts/gpu_poll.sh`). What is no JSON, or an error, is left out."""
    samples: list[Sample] = []
    for block in f"\n{text}".split("\n@ ")[1:]:
        head, _, body = block.partition("\n")
        uptime, _, tool = head.partition(" ")
        document = _document(body)
        if tool == "rocm-smi":
            samples += _rocm_smi(float(uptime), document)
        else:
            samples += _amd_smi(float(uptime), document)
    return tuple(samples)


def lately(samples: Iterable[Sample], seconds: float) -> tuple[Sample, ...]:
    """The samples of the last `seconds` before the newest one; none if that is a single moment, which may lie
    before what is asked about."""
    taken = tuple(samples)
    newest = max((item.uptime for item in taken), default=0.0)
    recent = tuple(item for item in taken if item.uptime > newest - seconds)
    return recent if len({item.uptime for item in recent}) > 1 else ()


def summary(samples: Iterable[Sample]) -> dict[str, float]:
    """The `gpu.*` metrics: the highest memory use of any GPU; means over GPUs and time for the rest."""
    taken = tuple(samples)
    memory = [item.memory_mb for item in taken if item.memory_mb is not None]
    found = {"gpu.peak_gpu_memory_mb": max(memory)} if memory else {}
    means = {
        "gpu.gpu_compute_util_pct": [item.compute_pct for item in taken],
        "gpu.gpu_bandwidth_util_pct": [item.bandwidth_pct for item in taken],
        "gpu.power_w": [item.power_w for item in taken],
    }
    for name, values in means.items():
        known = [value for value in values if value is not None]
        if known:
            found[name] = sum(known) / len(known)
    return found


def _document(text: str) -> Any:
    """The first JSON value of a text that may begin with a warning."""
    starts = [position for position in (text.find("["), text.find("{")) if position >= 0]
    if not starts:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, min(starts))[0]
    except ValueError:
        return None


def _amd_smi(uptime: float, document: Any) -> list[Sample]:
    gpus = document.get("gpu_data") if isinstance(document, dict) else document
    if not isinstance(gpus, list):
        return []
    return [
        Sample(
            uptime,
            str(gpu.get("gpu")),
            _number(gpu, "mem_usage", "used_vram"),
            _number(gpu, "usage", "gfx_activity", "gfx_usage"),
            _number(gpu, "usage", "umc_activity", "mem_usage"),
            _number(gpu, "power", "socket_power", "current_power"),
        )
        for gpu in gpus
        if isinstance(gpu, dict) and "gpu" in gpu
    ]


def _number(gpu: Mapping[str, Any], section: str, *names: str) -> float | None:
    """The first of these entries that is a number, bare or as {"value": ..., "unit": ...}."""
    entries = gpu.get(section)
    if not isinstance(entries, dict):
        return None
    for name in names:
        value = entries.get(name)
        if isinstance(value, dict):
            value = value.get("value")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


def _rocm_smi(uptime: float, document: Any) -> list[Sample]:
    if not isinstance(document, dict):
        return []
    found = []
    for name, card in document.items():
        if not (name.startswith("card") and isinstance(card, dict)):
            continue
        used = _text_number(card, "VRAM Total Used Memory (B)")
        found.append(
            Sample(
                uptime,
                name.removeprefix("card"),
                None if used is None else used / _MB,
                _text_number(card, "GPU use (%)"),
                # Before 6.1.2 this activity was called "use", though it is no share of the memory.
                _text_number(card, "GPU Memory Read/Write Activity (%)", "GPU memory use (%)"),
                _text_number(
                    card, "Current Socket Graphics Package Power (W)", "Average Graphics Package Power (W)"
                ),
            )
        )
    return found


def _text_number(card: Mapping[str, Any], *names: str) -> float | None:
    for name in names:
        try:
            return float(card[name])
        except (KeyError, TypeError, ValueError):
            continue
    return None
