"""Maps a plan onto this machine: each rank a loopback address and a private folder, free ports, and a model that is
there in name only. The plan's argv stay as they are; only their bindings get other values."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

from attrs import frozen

from atomcfg.plan import Plan
from atomcfg.tokens import Hole
from atomrun.host import Host

__all__ = ["Mapped", "free_ports", "map_plan"]

_PASSED_ON = ("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PATH")
_KNOBS = "STANDIN_"
_WEIGHTS = 1024  # bytes

# A plan may set PYTHONPATH itself: the stand-ins come before whatever it names.
_SHIM = """\
#!/bin/sh
PYTHONPATH='{engines}'${{PYTHONPATH:+:$PYTHONPATH}}
export PYTHONPATH
exec '{python}' "$@"
"""

Connect = Callable[[int, str, str, Mapping[str, str]], Host]  # rank, name, root, environment


@frozen
class Mapped:
    """`values` hold on every rank, `own[rank]` on one; `connect[rank]` opens that rank's node."""

    values: Mapping[str, str]
    own: tuple[Mapping[str, str], ...]
    connect: tuple[Callable[[], Host], ...]
    run_dirs: tuple[str, ...]


def map_plan(
    plan: Plan, scratch: Path, connect: Connect, environ: Mapping[str, str], ports: Mapping[str, int]
) -> Mapped:
    """`scratch` is a folder on a local file system, empty or of an earlier launch of the same rehearsal; the caller
    removes it afterwards. `ports` are `free_ports`, and stay the same for all launches."""
    models = scratch / "models"
    _pretend_model(models, plan)
    addresses = [_address(node.rank) for node in plan.nodes]
    values = {
        Hole.HTTP_PORT.value: str(ports["http"]),
        Hole.MASTER_PORT.value: str(ports["master"]),
        Hole.MASTER_ADDR.value: addresses[0],
        Hole.MODELS_DIR.value: str(models),
        **{f"{Hole.ADDRESS.value}.{rank}": address for rank, address in enumerate(addresses)},
    }
    environment = _environment(scratch, environ)
    folders = [scratch / f"rank-{node.rank}" for node in plan.nodes]
    run_dirs = tuple(str(folder / "run") for folder in folders)
    return Mapped(
        values=values,
        own=tuple({Hole.RUN_DIR.value: run_dir} for run_dir in run_dirs),
        connect=tuple(
            _opener(connect, node.rank, node.address, folder / "node", environment)
            for node, folder in zip(plan.nodes, folders, strict=True)
        ),
        run_dirs=run_dirs,
    )


def _opener(connect: Connect, rank: int, name: str, root: Path, env: Mapping[str, str]) -> Callable[[], Host]:
    return lambda: connect(rank, name, str(root), env)


def _address(rank: int) -> str:
    return "127.0.0.1" if rank == 0 else f"127.0.1.{rank + 1}"


def free_ports() -> dict[str, int]:
    """Ports that nobody listens on now. Another program may take one before it is used; the run then says so."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    http, master = (each.getsockname()[1] for each in sockets)
    for each in sockets:
        each.close()
    return {"http": http, "master": master}


def _environment(scratch: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What a login on a node would give, and the stand-ins before everything else. Nothing of the launcher's own
    environment gets in unnoticed."""
    kept = {name: value for name, value in environ.items() if name in _PASSED_ON or name.startswith(_KNOBS)}
    here = Path(str(files("atomrun").joinpath("rehearsal")))
    shims = scratch / "bin"
    shims.mkdir(exist_ok=True)
    for name in ("python", "python3"):
        shim = shims / name
        shim.write_text(_SHIM.format(engines=here / "engines", python=sys.executable))
        shim.chmod(0o755)
    path = [str(shims), str(here / "bin"), environ.get("PATH", os.defpath)]
    return {**kept, "PATH": ":".join(path)}


def _pretend_model(models: Path, plan: Plan) -> None:
    """A model as a Hugging Face cache (or, for a path, a folder) holds it, with a kilobyte of zeros for weights."""
    name = plan.model.id
    root = plan.paths.models_dir.rstrip("/") + "/"
    if name.startswith(root):
        snapshot = models / name.removeprefix(root)
    else:
        cache = models / f"models--{name.replace('/', '--')}"
        revision = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
        snapshot = cache / "snapshots" / revision
        (cache / "refs").mkdir(parents=True, exist_ok=True)
        (cache / "refs" / "main").write_text(revision)
    snapshot.mkdir(parents=True, exist_ok=True)
    (snapshot / "config.json").write_text(json.dumps({"model_type": "stand-in"}))
    (snapshot / "model.safetensors").write_bytes(bytes(_WEIGHTS))
