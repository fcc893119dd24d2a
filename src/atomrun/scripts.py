"""The shell scripts and the probe that a run sends to its nodes (`node/scripts/`, `node/probe/`)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from .context import NodeRun
from .host import Completed
from .jobs import command

__all__ = ["pairs", "probe_archive", "run_inside", "run_on_host", "script"]

_NEVER = (1980, 1, 1, 0, 0, 0)  # the same bytes every time
_MAIN = "import sys\nfrom probe.modes import main\nsys.exit(main(sys.argv[1:]))\n"


@cache
def script(name: str) -> str:
    """The text of `node/scripts/<name>.sh`."""
    return files("atomrun").joinpath(f"node/scripts/{name}.sh").read_text("utf-8")


def run_on_host(node: NodeRun, name: str, args: Sequence[str], timeout: float, stdin: bytes = b"") -> Completed:
    """Run a script on the node's host OS."""
    return node.host.run(["sh", "-c", script(name), name, *args], timeout=timeout, stdin=stdin)


def run_inside(node: NodeRun, name: str, args: Sequence[str], timeout: float, stdin: bytes = b"") -> Completed:
    """Run a script where the node's programs run."""
    argv = command(node.inside, ["sh", "-c", script(name), name, *args])
    return node.host.run(argv, timeout=timeout, stdin=stdin)


def pairs(out: bytes) -> list[tuple[str, str]]:
    """Lines `KEY<TAB>VALUE` or `KEY VALUE` of a script's output."""
    found = []
    for line in out.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition("\t" if "\t" in line else " ")
        found.append((key, value))
    return found


@cache
def probe_archive() -> bytes:
    """`probe.pyz`: the folder `node/probe` as one file that Python runs."""
    buffer = io.BytesIO()
    folder = files("atomrun").joinpath("node/probe")
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py", _NEVER), _MAIN)
        for item in sorted(folder.iterdir(), key=lambda each: each.name):
            if item.name.endswith(".py"):
                archive.writestr(zipfile.ZipInfo(f"probe/{item.name}", _NEVER), item.read_bytes())
    return buffer.getvalue()
