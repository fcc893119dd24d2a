"""A folder of one's own for a shipped config: config, thresholds, cluster file, and a lab file to fill."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

import tomli_w
from attrs import field, frozen

from .dialect import dialect_of
from .documents import Document, JsonPath, Source, dotted
from .placeholders import leftovers
from .pretty import parse, pretty
from .schemawalk import description_at

__all__ = ["Starter", "starter"]

SCHEMAS = ".schemas"  # beside the folders; hidden, because it holds no configuration
_CLUSTER = "cluster.json"
_LAB = "lab.toml"
_BARE = "<changeme>"  # has no name, so only its path can supply it
_WIDTH = 100
_CLUSTER_COMMENT = (
    "mgmt_ip is the node that becomes rank 0, not a jump host. username {user-id} is who runs atomcfg."
)


@frozen
class Starter:
    """The texts of a folder by file name, and the names that its lab file asks for."""

    texts: Mapping[str, str]
    asked: tuple[str, ...]


@frozen
class _Open:
    """One open place: the document and path, whether it is a key there, and the token."""

    document: Document
    schema: str
    prefix: str  # before the path, where it is not the config's
    path: JsonPath
    is_key: bool
    token: str

    def said(self) -> str:
        """Where it is and what it is for; inside a longer text, that text."""
        path = self.path[:-1] if self.is_key else self.path
        value = self.path[-1] if self.is_key else self.document.get(*self.path)
        inside = f" in {value}" if value != self.token else ""
        about = next((text for text in _descriptions(self.schema, path) if text), "")
        return f"{self.prefix}{dotted(path)}{inside}: {about}"


@frozen
class _Wish:
    """A value that the lab file asks for, and the places that need it."""

    table: str  # values | set
    name: str
    value: object
    places: list[str] = field(factory=list)


def starter(config: Source, thresholds: Source, cluster: Source, nnodes: int) -> Starter:
    """The folder for a shipped `config`, on `nnodes` of the nodes of the shipped `cluster` file."""
    nodes = _cluster(parse(cluster.data), nnodes)
    value = parse(config.data)
    wishes = _wishes(value, nodes)
    texts = {
        f"{config.stem}.json": _with_schemas(config),
        f"{thresholds.stem}.json": _with_schemas(thresholds),
        _CLUSTER: pretty(nodes),
        _LAB: _lab(config.stem, wishes),
    }
    return Starter(texts, tuple(wish.name for wish in wishes))


def _with_schemas(source: Source) -> str:
    """A shipped text; its `$schema` names the copy beside the folders."""
    return source.data.decode("utf-8").replace('"$schema": "../schemas/', f'"$schema": "../{SCHEMAS}/', 1)


def _cluster(value: Mapping[str, object], nnodes: int) -> dict[str, object]:
    listed = value["node_dict"]
    assert isinstance(listed, dict)
    assert nnodes <= len(listed)
    schema = f"../{SCHEMAS}/cluster.schema.json"
    nodes = dict(list(listed.items())[:nnodes])
    return {**value, "$schema": schema, "_comment": _CLUSTER_COMMENT, "node_dict": nodes}


def _wishes(config: Mapping[str, object], cluster: Mapping[str, object]) -> list[_Wish]:
    """Each value once, in the order of the places."""
    wishes: dict[tuple[str, str], _Wish] = {}
    for place in _open(config, cluster):
        if place.token == _BARE:
            wish = _Wish("set", dotted(place.path), place.document.get(*place.path))
        else:
            wish = _Wish("values", place.token.strip("<>{}"), place.token)
        known = wishes.setdefault((wish.table, wish.name), wish)
        if place.said() not in known.places:
            known.places.append(place.said())
    return sorted(wishes.values(), key=lambda wish: wish.table, reverse=True)


def _open(config: Mapping[str, object], cluster: Mapping[str, object]) -> Iterator[_Open]:
    documents = ((config, f"config-{dialect_of(config)}", ""), (cluster, "cluster", f"{_CLUSTER}, "))
    for value, schema, prefix in documents:
        document = Document(value, {})
        for path, is_key, token in leftovers(document):
            yield _Open(document, schema, prefix, path, is_key, token)


def _descriptions(schema: str, path: JsonPath) -> Iterator[str]:
    """What the schema says of a path, then of what it lies in."""
    for cut in range(len(path), 0, -1):
        yield description_at(schema, path[:cut])


def _lab(stem: str, wishes: list[_Wish]) -> str:
    head = f"What this lab supplies to {stem}. It is read because it lies beside the config."
    how = "Replace what stands to the right of each =; above it: where the value goes, and what for."
    lines = [_comment(head), _comment(how if wishes else "This config leaves nothing open.")]
    for table in dict.fromkeys(wish.table for wish in wishes):
        lines += ["", f"[{table}]"]
        for wish in wishes:
            if wish.table == table:
                entry = tomli_w.dumps({wish.name: wish.value}).rstrip("\n")
                lines += [*(_comment(place) for place in wish.places), entry, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _comment(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_long_words=False)
