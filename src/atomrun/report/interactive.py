"""The deck's curves as Vega-Lite specifications by altair, and the bundle that draws them (the extra `report`).

The bundle (Vega, Vega-Lite, vega-embed; BSD 3-Clause) comes out of vl-convert, takes seconds to make and is kept in
the user's cache. It is inlined: a deck loads nothing.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from atomrun.folder import write_whole

from .curves import FRONT, Curve

__all__ = ["available", "bundle", "specifications"]

_DATA = "points"
_COLOURS = tuple(f"var(--s{index})" for index in range(6))


def available() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("altair", "vl_convert"))


def bundle() -> str:
    """JavaScript that sets `window.vegaEmbed`, safe to stand in an HTML script element."""
    import vl_convert

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atomrun"
    kept = cache / f"vega-{version('vl-convert-python')}.js"
    try:
        return kept.read_text("utf-8")
    except OSError:
        made = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets the default
    code = made.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError):  # no home to keep it in: made anew each time
        write_whole(kept, code.encode())
    return code


def specifications(curves: Iterable[Curve]) -> str:
    """A JSON list of Vega-Lite documents, safe to stand in an HTML script element. Colours are the deck's own CSS
    variables, so that a chart follows its theme."""
    text = json.dumps([_chart(curve) for curve in curves], separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _chart(curve: Curve) -> dict[str, Any]:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"x": point.x, "y": point.y, "line": name, "label": point.label, "at": point.anchor, "failed": point.failed}
        for name, points in curve.lines.items()
        for point in points
    ]
    top = max((row["y"] for row in rows), default=0.0) or 1.0
    picked = alt.selection_point(name="pick", fields=["line"], bind="legend")
    moved = alt.selection_interval(
        name="move", bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]", translate=True
    )
    base = alt.Chart(alt.NamedData(name=_DATA)).encode(
        x=_across(curve), y=alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 1.06 * top])), tooltip="label:N"
    )
    lines = (
        base.mark_line(point=alt.OverlayMarkDef(filled=False, fill="var(--card)", size=48) if curve.dots else False)
        .encode(opacity=alt.condition(picked, alt.value(1), alt.value(0.15)), **_lines(list(curve.lines)))
        .add_params(picked, moved)
    )
    failed = base.transform_filter("datum.failed").mark_point(filled=True, color="var(--bad)", opacity=1, size=70)
    chart = alt.layer(lines, failed, width="container", height=230)
    return {**_themed(chart).to_dict(), "datasets": {_DATA: rows}}  # which altair would only check, slowly


def _lines(names: list[str]) -> dict[str, Any]:
    import altair as alt

    dashes = [[5, 4] if name == FRONT else [1, 0] for name in names]
    colours = ["var(--ink)" if name == FRONT else _COLOURS[index % 6] for index, name in enumerate(names)]
    legend = alt.Legend(title=None, orient="top", symbolType="stroke") if len(names) > 1 else None
    return {
        "color": alt.Color("line:N", sort=names, scale=alt.Scale(domain=names, range=colours), legend=legend),
        "strokeDash": alt.StrokeDash(
            "line:N", sort=names, scale=alt.Scale(domain=names, range=dashes), legend=legend
        ),
    }


def _themed(chart: Any) -> Any:
    soft, edge = "var(--soft)", "var(--edge)"
    return (
        chart.configure(background="transparent", font="inherit")
        .configure_axis(
            labelColor=soft,
            titleColor=soft,
            gridColor=edge,
            domainColor=edge,
            tickColor=edge,
            titleFontWeight="normal",
        )
        .configure_legend(labelColor=soft)
        .configure_view(stroke=None)
    )


def _across(curve: Curve) -> Any:
    import altair as alt

    if not curve.doubling:
        widest = max((point.x for line in curve.lines.values() for point in line), default=0.0) or 1.0
        scale, axis = alt.Scale(domain=[0, 1.05 * widest]), alt.Axis(tickCount=6, labelOverlap=True)
        return alt.X("x:Q", title=curve.x_label, scale=scale, axis=axis)
    axis = alt.Axis(values=list(curve.levels), format="d", labelOverlap=True)
    return alt.X("x:Q", title=curve.x_label, scale=alt.Scale(type="log", base=2, padding=12), axis=axis)
