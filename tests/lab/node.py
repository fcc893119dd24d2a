"""One GPU node: namespaces with their own address, host name, processes, devices, files and container store."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from .network import Network, Wire
from .processes import PATH, Ledger, Recorded, wait_until

__all__ = ["Node", "NodeProcess", "remove"]

_INIT = Path(__file__).with_name("node_init.sh")
_NAMESPACES = ("mount", "uts", "ipc", "net", "pid")


@frozen
class NodeProcess:
    """A process as the node's own process table shows it; those in containers are there too."""

    pid: int
    argv: tuple[str, ...]
    environment: Mapping[str, str]


@define
class Node:
    """`boot` and `crash` are its power button; everything else needs a booted node."""

    number: int
    folder: Path
    images: Path
    shared: Path
    network: Network
    ledger: Ledger
    _outer: Recorded | None = field(default=None, init=False)
    _init: Recorded | None = field(default=None, init=False)
    _wire: Wire | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        return f"gpu{self.number}"

    @property
    def address(self) -> str:
        return self.network.address(self.number)

    @property
    def wire(self) -> Wire:
        """The node's cable: `node.wire.down()`."""
        assert self._wire is not None, f"{self.name} is off"
        return self._wire

    @property
    def init(self) -> Recorded:
        """The node's process 1, as this machine numbers it."""
        assert self._init is not None, f"{self.name} is off"
        return self._init

    def boot(self) -> None:
        """Switch on, with a new boot id; `wait_ready` before talking to it."""
        (self.folder / "boot_id").write_text(f"{uuid.uuid4()}\n")
        init = [_INIT, self.folder, self.name, f"{self.address}/24", self.images, self.shared]
        argv = ["unshare", *(f"--{name}" for name in _NAMESPACES), "--fork", "--kill-child", *map(str, init)]
        self._outer, go = self.ledger.spawn(argv, self.folder / "console.log", b"go\n")
        children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
        wait_until(lambda: bool(children.read_text().split()), f"{self.name} to start")
        self._init = Recorded.of(int(children.read_text().split()[0]))
        self._wire = self.network.connect(self.number, self.name, self._init.pid)
        go()

    def wait_ready(self) -> None:
        """Return when sshd greets."""
        wait_until(self._greets, f"sshd on {self.name} (see {self.folder}/console.log)")

    def crash(self) -> None:
        """Power off without warning: every process ends at once, files stay, memory file systems are lost."""
        assert self._outer is not None, f"{self.name} is off"
        self.ledger.end(self._outer)
        self.wire.remove()
        self._outer = self._init = self._wire = None

    def exec(
        self,
        argv: Sequence[str],
        *,
        user: str = "root",
        stdin: bytes = b"",
        timeout: float = 60,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the node without SSH, for assertions and set-up. `check`: it must exit 0."""
        home = "/root" if user == "root" else f"/home/{user}"
        enter = ["nsenter", f"--target={self.init.pid}", *(f"--{name}" for name in _NAMESPACES)]
        become = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        env = ["env", "-i", f"PATH={PATH}", f"HOME={home}", f"USER={user}", "LANG=C.UTF-8"]
        done = subprocess.run([*enter, *become, *env, *argv], input=stdin, capture_output=True, timeout=timeout)
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        assert not check or done.returncode == 0, f"{self.name}: {' '.join(argv)}: {done.returncode}: {err or out}"
        return subprocess.CompletedProcess(list(argv), done.returncode, out, err)

    def path(self, path: str) -> Path:
        """A file of the node, to be read and written from here. Absolute symbolic links would lead astray."""
        return Path(f"/proc/{self.init.pid}/root") / path.lstrip("/")

    def install(self, name: str, script: str) -> None:
        """Put a program before all others on the node's PATH (a fake `date`, say). Remove with `uninstall`."""
        target = self.path(f"/usr/local/bin/{name}")
        target.write_text(script)
        target.chmod(0o755)

    def uninstall(self, name: str) -> None:
        self.path(f"/usr/local/bin/{name}").unlink()

    def pids(self) -> list[int]:
        """All processes, in the node's own numbers."""
        return sorted(int(path.name) for path in self.path("/proc").iterdir() if path.name.isdigit())

    def processes(self) -> Iterator[NodeProcess]:
        for pid in self.pids():
            with suppress(ProcessLookupError, FileNotFoundError):  # it may end while we look
                folder = self.path(f"/proc/{pid}")
                argv = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
                pairs = (folder / "environ").read_bytes().decode(errors="replace").split("\0")[:-1]
                yield NodeProcess(pid, tuple(argv), {k: v for k, _, v in (pair.partition("=") for pair in pairs)})

    def containers(self, *filters: str) -> list[dict[str, Any]]:
        """`podman ps --all`, narrowed by filters such as `label=atomrun.run`."""
        narrow = [f"--filter={text}" for text in filters]
        found: list[dict[str, Any]] = json.loads(
            self.exec(["podman", "ps", "--all", "--format=json", *narrow]).stdout
        )
        return found

    def _greets(self) -> bool:
        if not self.init.alive:
            raise ChildProcessError((self.folder / "console.log").read_text())
        try:
            with socket.create_connection((self.address, 22), timeout=5) as connection:
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False


def remove(folder: Path) -> None:
    """Delete what a node that is off left on this machine: its files and the control groups of its containers."""
    listing = folder / "root/var/lib/containers/storage/overlay-containers/containers.json"
    containers = json.loads(listing.read_text()) if listing.exists() else []
    for container in containers:
        for group in Path("/sys/fs/cgroup").glob(f"**/libpod*{container['id']}*"):
            for path, _, _ in os.walk(group, topdown=False):
                Path(path).rmdir()
    shutil.rmtree(folder)
