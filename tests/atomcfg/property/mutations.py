"""One small change to a JSON document or to its bytes, as a slip of the hand or a broken editor makes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

Place = tuple[str | int, ...]

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "tests" / "data" / "cvs", ROOT / "tests" / "data" / "cvs-older", ROOT / "examples")
CONFIGS = tuple(
    path
    for folder in FOLDERS
    for path in sorted(folder.glob("mi3*.json"))
    if not path.name.endswith("threshold.json")
)
# What a value may turn into: each type, and the edges of each.
ODD = (
    None, True, False, 0, 1, -1, 2**63, 8.0, 0.5, 1e308, "", "8", " 8", "08", "yes", "1e5", "nan", "inf", "auto",
    "<changeme>", "<changeme-x>", "{shared_fs}", "{paths.log_dir}", "{head-node-ip}", "~", "a b", "\n", "\0",
    "\ud800", "--flag=1", "ISL=1,OSL=1,TP=1,PP=1,CONC=1", [], [None], ["8"], [[]], {}, {"a": 1}, {"_c": 1},
    "é" * 300,
)  # fmt: skip
values = st.sampled_from(ODD)


@cache
def load(path: Path) -> Any:
    """A real document, shared: not to be changed."""
    return json.loads(path.read_bytes())


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Every place below the top level."""
    inner: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    for key, item in inner:
        yield (*path, key)
        yield from places(item, (*path, key))


def parent(document: Any, place: Place) -> Any:
    """The container that holds `place`."""
    for step in place[:-1]:
        document = document[step]
    return document


def delete(document: Any, place: Place, _value: Any) -> None:
    del parent(document, place)[place[-1]]


def retype(document: Any, place: Place, value: Any) -> None:
    parent(document, place)[place[-1]] = value


def rename(document: Any, place: Place, value: Any) -> None:
    holder = parent(document, place)
    if isinstance(holder, dict):
        key = str(place[-1])
        names = {key: value if isinstance(value, str) else key[1:] + key[:1]}
        made = {names.get(name, name): item for name, item in holder.items()}
        holder.clear()
        holder.update(made)


def repeat(document: Any, place: Place, value: Any) -> None:
    """A list's member once more; an object's key beside itself, misspelt."""
    holder = parent(document, place)
    if isinstance(holder, list):
        holder.append(deepcopy(holder[int(place[-1])]))
    else:
        holder[f"{place[-1]}x"] = value


def reorder(document: Any, place: Place, _value: Any) -> None:
    holder = parent(document, place)
    if isinstance(holder, list):
        holder.reverse()
    else:
        made = dict(reversed(holder.items()))
        holder.clear()
        holder.update(made)


CHANGES: tuple[Callable[[Any, Place, Any], None], ...] = (delete, retype, rename, repeat, reorder)


@st.composite
def changed_documents(draw: st.DrawFn, paths: tuple[Path, ...] = CONFIGS) -> tuple[Path, bytes]:
    """A real file with one change to its values."""
    path = draw(st.sampled_from(paths))
    document = deepcopy(load(path))
    place = draw(st.sampled_from(tuple(places(document))))
    draw(st.sampled_from(CHANGES))(document, place, draw(values))
    return path, json.dumps(document, indent=1).encode()


@st.composite
def changed_bytes(draw: st.DrawFn, paths: tuple[Path, ...] = CONFIGS) -> tuple[Path, bytes]:
    """A real file cut short, with one byte changed, or with one of its lines twice."""
    path = draw(st.sampled_from(paths))
    data = path.read_bytes()
    at = draw(st.integers(0, len(data) - 1))
    kind = draw(st.sampled_from(("cut", "flip", "line")))
    if kind == "cut":
        return path, data[:at]
    if kind == "flip":
        return path, data[:at] + bytes([data[at] ^ draw(st.integers(1, 255))]) + data[at + 1 :]
    lines = data.splitlines(keepends=True)
    line = draw(st.integers(0, len(lines) - 1))
    return path, b"".join([*lines[: line + 1], *lines[line:]])
