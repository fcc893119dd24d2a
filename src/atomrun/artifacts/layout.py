"""A benchmark client's record, described as data and projected onto the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from attrs import field, frozen

from atomrun.results import Reading

from .record import ArtifactError, Fault, Record, finite, json_text

__all__ = ["STATISTICS", "Layout", "nearest", "project"]

STATISTICS = ("mean", "median", "std", "p90", "p95", "p99")
_SIMILAR = 0.6


def _same(value: float) -> float:
    return value


@frozen
class Layout:
    """The fields of one client's record.

    `required` and `optional` map a key of the record to a metric; `families` map the name of a latency family to
    the vocabulary's; each family that is there at all has the statistics `always`. `scale` converts a key's unit.
    """

    format: str
    client: str  # for messages
    required: Mapping[str, str]
    optional: Mapping[str, str]
    families: Mapping[str, str]
    always: tuple[str, ...]
    echo: Mapping[str, str]
    scale: Mapping[str, Callable[[float], float]] = field(factory=dict)
    unread: frozenset[str] = frozenset()  # fields with names like those read, which no rename explains

    def known(self) -> frozenset[str]:
        """Every key of a record that this layout reads."""
        latencies = (f"{statistic}_{name}_ms" for name in self.families for statistic in STATISTICS)
        return frozenset((*self.required, *self.optional, *self.echo, *latencies))


class _Projection:
    """Collects values, and reasons for those that are missing, while the keys are taken."""

    def __init__(self, layout: Layout, record: Record) -> None:
        self.layout, self.record = layout, record
        self.values: dict[str, float] = {}
        self.missing: dict[str, str] = {}
        known = layout.known()
        self.unread = tuple(key for key in record if key not in known)

    def take(self, key: str, metric: str, *, latency: bool = False) -> None:
        number = finite(self.record[key])
        if isinstance(number, str):
            self.missing[metric] = number
        elif latency and number == 0:
            # The clients write 0.0 for the statistics of nothing at all.
            self.missing[metric] = "0 in the artifact: the client measured none"
        else:
            self.values[metric] = self.layout.scale.get(key, _same)(number)

    def family(self, name: str, metric: str) -> None:
        keys = {statistic: f"{statistic}_{name}_ms" for statistic in STATISTICS}
        present = [statistic for statistic in STATISTICS if keys[statistic] in self.record]
        for statistic in present:
            self.take(keys[statistic], f"{statistic}_{metric}_ms", latency=statistic != "std")
        for statistic in self.layout.always if present else ():
            if statistic not in present:
                self.missing[f"{statistic}_{metric}_ms"] = self.changed(keys[statistic])

    def changed(self, key: str) -> str:
        unknown = (name for name in self.unread if name not in self.layout.unread)
        return f'schema changed: no "{key}", {nearest(key, unknown)}'


def nearest(key: str, names: Iterable[str]) -> str:
    """What to say of the name among `names` that is most like `key`."""
    near = get_close_matches(key, list(names), n=1, cutoff=_SIMILAR)
    return f'nearest is "{near[0]}"' if near else "nothing similar is there"


def project(layout: Layout, record: Record) -> Reading:
    """The reading of one record. Raises `ArtifactError` for a record of another shape."""
    projection = _Projection(layout, record)
    absent = [key for key in layout.required if key not in record]
    if len(absent) == len(layout.required):
        raise ArtifactError(
            Fault.WRONG_RECORD,
            f"the artifact is not a result of {layout.client}: none of its fields is there",
            "another program's file was collected: check the artifact's name",
        )
    if absent:
        raise ArtifactError(
            Fault.SCHEMA_CHANGED,
            "; ".join(projection.changed(key) for key in absent),
            f"this version of {layout.client} writes other fields: pin the image, or report the new names",
        )
    for key, metric in {**layout.required, **layout.optional}.items():
        if key in record:
            projection.take(key, metric)
    for name, metric in layout.families.items():
        projection.family(name, metric)
    return Reading(
        format=layout.format,
        values=projection.values,
        missing=projection.missing,
        echo={name: _word(record[key]) for key, name in layout.echo.items() if record.get(key) is not None},
        extra={key: json_text(record[key]) for key in projection.unread},
    )


def _word(value: object) -> str:
    return value if isinstance(value, str) else json_text(value).strip('"')
