"""Placeholders become values: `{user-id}`, `{shared_fs}`, `{paths.KEY}`. What nobody supplied is one diagnostic."""

from __future__ import annotations

import re

from attrs import evolve

from atomcfg.diagnostics import Checked, Diagnostics, Related, Severity
from atomcfg.documents import Document, JsonPath, dotted
from atomcfg.edit import rewrite
from atomcfg.placeholders import ADDRESS_TOKENS, BRACE, PathCycle, leftovers, resolve_paths
from atomcfg.suggest import nearest

from .states import Flat

__all__ = ["resolve"]

_USER = "user-id"
_PATH_KEYS = ("shared_fs", "models_dir", "log_dir", "hf_token_file")
# Without these not even a dry run knows what it would run.
_NEEDED: tuple[JsonPath, ...] = (("params", "driver"), ("sweep",), ("long_context_accuracy",))
_NAMED = re.compile(r"<(?!changeme>)[^<>]+>|\{[a-z-]+\}", re.IGNORECASE)
_HOME = re.compile(r"^~|\$\{?HOME\b|\$\{?[A-Z_]+\b")


def resolve(flat: Flat) -> Checked[Flat]:
    """The flat document and the cluster without placeholders."""
    found = Diagnostics()
    user = _user(flat, found)
    document = flat.document
    paths = _paths(document, {_USER: user}, found)
    _check_threshold_name(document, found)
    if found.has_errors:
        return Checked(None, found.items)
    known = {_USER: user, **{f"paths.{key}": value for key, value in paths.items()}}
    inside = {**known, **paths}

    def change(text: str, path: JsonPath) -> str:
        names = inside if path[:1] == ("paths",) else known
        return BRACE.sub(lambda match: names.get(match.group(1), match.group()), text)

    document = rewrite(document, change, "{")
    _check_braces(document, found)
    cluster = flat.parsed.cluster
    if cluster is not None:
        cluster = rewrite(cluster, lambda text, _: text.replace("{" + _USER + "}", user), "{")
    parsed = evolve(flat.parsed, cluster=cluster)
    _check_leftovers(document, parsed.cluster, flat.parsed.options.dry_run, found)
    return Checked.of(evolve(flat, document=document, parsed=parsed), found)


def _user(flat: Flat, found: Diagnostics) -> str:
    cluster, local = flat.parsed.cluster, flat.parsed.options.user
    stated = cluster.get("username") if cluster else None
    if isinstance(stated, str) and stated != "{" + _USER + "}":
        return stated
    if cluster is not None:
        span = cluster.span(("username",))
        found.note("A311", f"the user is the local one, {local}", span, "the cluster file names none")
    return local


def _paths(document: Document, known: dict[str, str], found: Diagnostics) -> dict[str, str]:
    stated = document.get("paths")
    texts = {
        key: value
        for key, value in (stated.items() if isinstance(stated, dict) else ())
        if isinstance(value, str) and not key.startswith("_")
    }
    try:
        resolved = resolve_paths(texts, known)
    except PathCycle as cycle:
        span = document.span(("paths", cycle.names[0]))
        found.error(
            "A312", f"paths refer to each other in a circle: {cycle}", span, "give one of them a plain path"
        )
        return {}
    for key, value in resolved.items():
        home = _HOME.search(value)
        if home:
            hint = "write {shared_fs} or an absolute path: whose home would it be, the launcher's or the node's?"
            found.error("A313", f"{home.group()} is not expanded in paths", document.span(("paths", key)), hint)
    return resolved


def _check_threshold_name(document: Document, found: Diagnostics) -> None:
    name = document.get("threshold_json")
    if isinstance(name, str) and (BRACE.search(name) or "<" in name):
        hint = "write the file's name as it stands beside the config"
        found.error("A314", "threshold_json takes no placeholder", document.span(("threshold_json",)), hint)


def _check_braces(document: Document, found: Diagnostics) -> None:
    """A brace token that looks like one of ours but is none; in `paths`, any that is left."""
    names = [_USER, *_PATH_KEYS, *(f"paths.{key}" for key in _PATH_KEYS), *ADDRESS_TOKENS]

    def look(text: str, path: JsonPath) -> str:
        for match in BRACE.finditer(text):
            word = match.group(1)
            if word in ADDRESS_TOKENS:
                continue
            near = nearest(word, names)
            if near is None and path[:1] != ("paths",):
                continue
            usable = path[:1] == ("paths",) or near is None or "." in near or near not in _PATH_KEYS
            meant = near if usable else f"paths.{near}"
            hint = f"did you mean {{{meant}}}?" if near else "known here: {user-id} and the other keys of paths"
            found.error("A315", f"unknown placeholder {{{word}}}", document.span(path), hint)
        return text

    rewrite(document, look, "{")


def _check_leftovers(document: Document, cluster: Document | None, dry_run: bool, found: Diagnostics) -> None:
    places = [
        (source, path, is_key, token)
        for source in (document, cluster)
        if source is not None
        for path, is_key, token in leftovers(source)
    ]
    if not places:
        return
    spans = [source.span(path, key=is_key) for source, path, is_key, _ in places]
    related = [Related(f"{place[3]} here", span) for place, span in list(zip(places, spans, strict=True))[1:]]
    many = f"{len(places)} places" if len(places) > 1 else "1 place"
    tokens = list(dict.fromkeys(token for *_, token in places))
    summary = f"{many} for a lab to fill in: {', '.join(tokens)}"
    needed = any(
        source is document and path[: len(base)] == base for source, path, *_ in places for base in _NEEDED
    )
    severity = Severity.WARNING if dry_run and not needed else Severity.ERROR
    found.add("A316", severity, summary, spans[0], _advice(tokens, places, cluster), related)


def _advice(tokens: list[str], places: list[tuple[Document, JsonPath, bool, str]], cluster: Document | None) -> str:
    head = cluster.get("head_node_dict", "mgmt_ip") if cluster else None
    if "{head-node-ip}" in tokens and isinstance(head, str) and "{" not in head and "<" not in head:
        told = "{head-node-ip} is not resolved by itself; the cluster file's head is"
        return f'{told} {head}: in a lab file, [values] head-node-ip = "{head}"'
    named = [token.strip("<>{}") for token in tokens if _NAMED.fullmatch(token)]
    if named:
        return f'in a lab file: [values] {named[0]} = "..."; the bare <changeme> by its path in [set], or --set'
    settable = [path for document, path, is_key, _ in places if document is not cluster and not is_key]
    return f"--set {dotted(settable[0])}=VALUE, or [set] in a lab file" if settable else "write it there"
