"""The `container` block: the cluster's defaults, the config's on top, and the run command they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from .diagnostics import Diagnostics
from .documents import Document, JsonPath, Origin
from .edit import merge
from .model import ContainerSettings
from .plan import Mount
from .tokens import Hole, Token, bind, template
from .values import as_flag, as_text, env_text, is_open, plain

__all__ = ["container_name", "inside", "outside", "read_container", "run_argv"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,511}")
_ARGS = ("container", "runtime", "args")
_LABELS = {"owner": Hole.OWNER, "run": Hole.RUN_ID, "plan": Hole.PLAN_DIGEST, "rank": Hole.RANK}


def read_container(document: Document, cluster: Document | None, found: Diagnostics) -> ContainerSettings | None:
    """The container of a run. None, with errors, if a part of it cannot be used."""
    merged = _merged(document, cluster)
    image = as_text(merged.get("container", "image"))
    name = as_text(merged.get("container", "name"), "atom")
    if not image:
        span = merged.span(("container",), key=True)
        found.error("A429", "no container image is named", span, 'write "image" in container')
    elif not _IMAGE.fullmatch(image) and "<" not in image:
        hint = "like rocm/atom-dev:latest, without spaces"
        found.error("A426", f'"{image}" is no image name', merged.span(("container", "image")), hint)
    if not _NAME.fullmatch(name) and "<" not in name:
        span = merged.span(("container", "name"))
        found.error("A425", f'"{name}" is no container name', span, "letters, digits, _ . and - only")
    args = plain(merged.get(*_ARGS))
    known = args if isinstance(args, dict) else {}
    mounts = _mounts(merged, known.get("volumes"), found)
    runtime = _choice(merged.get("container", "runtime", "name"), "docker")
    if _is_refused(runtime, known, "shm_size"):
        span = merged.span((*_ARGS, "shm_size"), key=True)
        found.warning("A430", "podman takes no shm_size beside ipc host; it is left out", span, "remove shm_size")
    return ContainerSettings(
        lifetime=_choice(merged.get("container", "lifetime"), "per_run"),
        name=name,
        image=image,
        runtime=runtime,
        args=known,
        mounts=mounts,
    )


def _choice(value: object, default: str) -> str:
    return default if is_open(value) else as_text(value, default)


def _merged(document: Document, cluster: Document | None) -> Document:
    if cluster is None or not isinstance(cluster.get("container"), dict):
        return document
    origins: dict[JsonPath, Origin] = {("container",): cluster.origin(("container",))}
    own = document.get("container")
    over = {"container": own} if isinstance(own, dict) else {}
    value = merge({"container": cluster.get("container")}, over, (), origins, document.origin(()))
    known = {path: origin for path, origin in document.origins.items() if path[:1] == ("container",)}
    return Document(value, {**origins, **known})


def _mounts(document: Document, volumes: object, found: Diagnostics) -> tuple[Mount, ...]:
    mounts = []
    for index, item in enumerate(volumes if isinstance(volumes, list) else []):
        source, _, rest = as_text(item).partition(":")
        target, _, options = rest.partition(":")
        is_open = "<" in source
        if not target.startswith("/") or not (source.startswith("/") or is_open) or ":" in options:
            span = document.span((*_ARGS, "volumes", index))
            hint = "write /host/path:/container/path or /host/path:/container/path:ro"
            found.error("A424", f'"{item}" is no bind mount', span, hint)
            continue
        mounts.append(Mount(source, target, options))
    return tuple(mounts)


def inside(mounts: Iterable[Mount], path: str) -> str | None:
    """Where a host path appears in the container, by the most specific mount; None if no mount shows it."""
    best: Mount | None = None
    for mount in mounts:
        root = mount.source.rstrip("/") + "/"
        if (path + "/").startswith(root) and (best is None or len(mount.source) > len(best.source)):
            best = mount
    if best is None:
        return None
    rest = path[len(best.source.rstrip("/")) :]
    return (best.target.rstrip("/") + rest) or "/"


def outside(mounts: Iterable[Mount], path: str) -> str | None:
    """The host path behind a container path; None if no mount provides it."""
    return inside([Mount(mount.target, mount.source, "") for mount in mounts], path)


def container_name(container: ContainerSettings) -> Token:
    """`persistent` and `no_launch` pin the name; otherwise it carries run and rank, so that nobody's is hit."""
    if container.lifetime != "per_run":
        return container.name
    return template(container.name, "-", bind(Hole.RUN_ID), "-r", bind(Hole.RANK))


def run_argv(container: ContainerSettings) -> tuple[Token, ...]:
    """The argv after the runtime's program name: `run -d ... IMAGE sleep infinity`."""
    words: list[Token] = ["run", "-d", "--init", "--name", container_name(container)]
    for label, hole in _LABELS.items():
        words += ["--label", template(f"atomrun.{label}=", bind(hole))]
    for key, option in _OPTIONS.items():
        if key in container.args and not _is_refused(container.runtime, container.args, key):
            words += option(container.args[key])
    for mount in container.mounts:
        words += ["-v", ":".join(part for part in (mount.source, mount.target, mount.options) if part)]
    stated = container.args.get("env")
    for name, value in sorted(stated.items()) if isinstance(stated, dict) else ():
        words += ["-e", f"{name}={env_text(value)}"]
    entrypoint = container.args.get("entrypoint")
    if entrypoint is None:
        return (*words, "--entrypoint", "sleep", container.image, "infinity")
    return (*words, "--entrypoint", as_text(entrypoint), container.image)


def _is_refused(runtime: str, args: Mapping[str, object], key: str) -> bool:
    """With the host's IPC, /dev/shm is the host's: docker ignores a size for it, podman does not start."""
    return key == "shm_size" and key in args and runtime == "podman" and args.get("ipc") == "host"


def _one(flag: str) -> Callable[[object], list[Token]]:
    return lambda value: [flag, as_text(value)]


def _many(flag: str) -> Callable[[object], list[Token]]:
    return lambda value: [
        word for item in (value if isinstance(value, list) else [value]) for word in (flag, as_text(item))
    ]


# Every key of runtime.args has its effect here, in `volumes` and `env` above, or is unknown to the schema.
_OPTIONS: Mapping[str, Callable[[object], list[Token]]] = {
    "network": _one("--network"),
    "ipc": _one("--ipc"),
    "privileged": lambda value: ["--privileged"] if as_flag(value) else [],
    "shm_size": _one("--shm-size"),
    "devices": _many("--device"),
    "cap_add": _many("--cap-add"),
    "security_opt": _many("--security-opt"),
    "group_add": _many("--group-add"),
    "ulimit": _many("--ulimit"),
    "pids_limit": _one("--pids-limit"),
    "user": _one("--user"),
    "workdir": _one("--workdir"),
    "extra_args": lambda value: [as_text(word) for word in (value if isinstance(value, list) else [value])],
}
