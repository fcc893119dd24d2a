"""The Prometheus text format, as far as the engines use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

__all__ = ["family", "histogram"]


def family(name: str, kind: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> list[str]:
    """The lines of one metric. A counter's samples must already be named `_total`."""
    return [
        f"# HELP {name} {name.partition(':')[2].replace('_', ' ')}",
        f"# TYPE {name} {kind}",
        *(f"{name}{_labels(labels)} {float(value)!r}" for labels, value in samples),
    ]


def histogram(name: str, bounds: Sequence[float], labels: Mapping[str, str], values: Sequence[float]) -> list[str]:
    """The lines of a histogram over observed values."""
    lines = [f"# HELP {name} {name.partition(':')[2].replace('_', ' ')}", f"# TYPE {name} histogram"]
    for bound in (*bounds, float("inf")):
        within = sum(value <= bound for value in values)
        lines.append(f"{name}_bucket{_labels({**labels, 'le': _bound(bound)})} {float(within)!r}")
    lines.append(f"{name}_count{_labels(labels)} {float(len(values))!r}")
    lines.append(f"{name}_sum{_labels(labels)} {float(sum(values))!r}")
    return lines


def _bound(bound: float) -> str:
    return "+Inf" if bound == float("inf") else repr(float(bound))


def _labels(labels: Mapping[str, str]) -> str:
    inner = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
    return f"{{{inner}}}" if inner else ""
