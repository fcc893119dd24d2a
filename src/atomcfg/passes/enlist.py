"""The cluster file: who is in the run, by rank, and how the launcher reaches them."""

from __future__ import annotations

import re

from atomcfg.diagnostics import Checked, Diagnostics, Severity, Span
from atomcfg.documents import Document, dotted
from atomcfg.model import Cluster
from atomcfg.placeholders import leftovers
from atomcfg.plan import Node
from atomcfg.values import as_int, env_text, is_open

from .states import Enlisted, Flat

__all__ = ["enlist"]

_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\$?")
_ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,252}")


def enlist(flat: Flat) -> Checked[Enlisted]:
    """Nodes in rank order: the head first, then the others as the file lists them."""
    found = Diagnostics()
    document = flat.parsed.cluster
    if document is None:
        cluster = _assumed(flat, found)
    else:
        _check_username(document, flat, found)
        cluster = Cluster(
            orchestrator=_text(document, "orchestrator", "container"),
            nodes=_nodes(document, flat, found),
            env_vars=_env_vars(document),
        )
        if document.get("hca_id_prefix") is not None:
            span = document.span(("hca_id_prefix",), key=True)
            found.note(
                "A211", "hca_id_prefix has no effect: discovery takes every device that the kernel lists", span
            )
    return Checked.of(Enlisted(flat, cluster, _unresolved(flat)), found)


def _assumed(flat: Flat, found: Diagnostics) -> Cluster:
    """Without a cluster file a dry run shows as many unnamed nodes as the config asks for."""
    severity = Severity.WARNING if flat.parsed.options.dry_run else Severity.ERROR
    found.add(
        "A601", severity, "no cluster file: the nodes are not known", Span("--cluster"), "give --cluster FILE"
    )
    count = flat.document.get("params", "nnodes")
    names = ["<head-node>", *(f"<worker-node-{rank}>" for rank in range(1, min(as_int(count, 1), 1024)))]
    nodes = tuple(
        Node(rank, name, name, flat.parsed.options.user, 22, None, "strict") for rank, name in enumerate(names)
    )
    return Cluster("container", nodes, {})


def _check_username(document: Document, flat: Flat, found: Diagnostics) -> None:
    name = _text(document, "username", flat.parsed.options.user)
    if not _USER.fullmatch(name):
        hint = "letters, digits, _ . and - only"
        found.error("A602", f'"{name}" is no user name', document.span(("username",)), hint)


def _nodes(document: Document, flat: Flat, found: Diagnostics) -> tuple[Node, ...]:
    listed = document.get("node_dict")
    addresses = [key for key in listed if not key.startswith("_")] if isinstance(listed, dict) else []
    head = document.get("head_node_dict", "mgmt_ip")
    for address in addresses:
        if not _ADDRESS.fullmatch(address) and not _is_open(address):
            span = document.span(("node_dict", address), key=True)
            found.error("A603", f'"{address}" is no address', span, "a host name or an IP address")
    if not addresses:
        found.error("A604", "the cluster file lists no node", document.span(("node_dict",)), "add one to node_dict")
        return ()
    if head not in addresses:
        span = document.span(("head_node_dict", "mgmt_ip"))
        found.error("A605", f"the head {head} is not in node_dict", span, f"node_dict has {', '.join(addresses)}")
        return ()
    ordered = [str(head), *(address for address in addresses if address != head)]
    return tuple(_node(document, flat, rank, address, found) for rank, address in enumerate(ordered))


def _node(document: Document, flat: Flat, rank: int, address: str, found: Diagnostics) -> Node:
    vpc = document.get("node_dict", address, "vpc_ip")
    cluster_address = vpc if isinstance(vpc, str) and vpc not in ("", "NA") else address
    if cluster_address != address and not (_ADDRESS.fullmatch(cluster_address) or _is_open(cluster_address)):
        span = document.span(("node_dict", address, "vpc_ip"))
        found.error("A603", f'"{cluster_address}" is no address', span, "a host name or an IP address")
    key_file = document.get("priv_key_file")
    user = _text(document, "username", flat.parsed.options.user)
    return Node(
        rank=rank,
        address=address,
        cluster_address=cluster_address,
        user=flat.parsed.options.user if user == "{user-id}" else user,
        port=as_int(document.get("ssh_port"), 22),
        key_file=key_file if isinstance(key_file, str) else None,
        host_key_policy=_text(document, "host_key_policy", "strict"),
    )


def _is_open(address: str) -> bool:
    """A token that a lab must still supply; it is reported with the others."""
    return address.startswith(("<", "{"))


def _text(document: Document, key: str, default: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) and not is_open(value) else default


def _env_vars(document: Document) -> dict[str, str]:
    env = document.get("env_vars")
    items = env.items() if isinstance(env, dict) else ()
    return {name: env_text(value) for name, value in items if not name.startswith("_")}


def _unresolved(flat: Flat) -> tuple[str, ...]:
    places = [f"{dotted(path)} ({token})" for path, _, token in leftovers(flat.document)]
    cluster = flat.parsed.cluster
    if cluster is None:
        return (*places, "the cluster file")
    return (*places, *(f"cluster: {dotted(path)} ({token})" for path, _, token in leftovers(cluster)))
