"""The lab's network: a bridge in a namespace of its own, one wire to this machine and one to each node.

The bridge is not in this machine's namespace, so that its packet filter (Docker's drops what is forwarded) has no
say, and so that all of it vanishes with the one process that holds the namespace.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from attrs import frozen

from .processes import Ledger, Recorded, run, wait_until

__all__ = ["Network", "Wire"]


@frozen
class Wire:
    """One node's connection to the bridge."""

    switch: Recorded
    name: str

    def down(self) -> None:
        """Pull the plug."""
        run([*_inside(self.switch), "ip", "link", "set", self.name, "down"])

    def up(self) -> None:
        run([*_inside(self.switch), "ip", "link", "set", self.name, "up"])

    def remove(self) -> None:
        """Remove the cable, if it did not go with its node's namespace before."""
        subprocess.run([*_inside(self.switch), "ip", "link", "del", self.name], capture_output=True)


@frozen
class Network:
    """`10.77.<slot>.0/24`: nodes from .1, this machine at .254, and at `proxy_address` for who sits between."""

    slot: int
    switch: Recorded

    @classmethod
    def start(cls, slot: int, ledger: Ledger, log: Path) -> Network:
        switch, _ = ledger.spawn(["unshare", "--net", "sleep", "infinity"], log)
        ours = Path("/proc/self/ns/net").readlink()
        wait_until(lambda: Path(f"/proc/{switch.pid}/ns/net").readlink() != ours, "a network namespace")
        network = cls(slot, switch)
        inside, uplink = _inside(switch), _uplink(slot)
        run(["ip", "link", "add", uplink, "type", "veth", "peer", "name", "uplink", "netns", str(switch.pid)])
        run([*inside, "ip", "link", "add", "bridge", "type", "bridge"])
        run([*inside, "ip", "link", "set", "bridge", "up"])
        run([*inside, "ip", "link", "set", "uplink", "master", "bridge", "up"])
        run(["ip", "address", "add", f"{network.launcher}/24", "dev", uplink])
        run(["ip", "link", "set", uplink, "up"])
        return network

    @staticmethod
    def forget(slot: int) -> None:
        """Remove this machine's end of the wire; it goes by itself too, a little after the switch."""
        if Path(f"/sys/class/net/{_uplink(slot)}").exists():
            subprocess.run(["ip", "link", "del", _uplink(slot)], capture_output=True)
            wait_until(lambda: not Path(f"/sys/class/net/{_uplink(slot)}").exists(), "the network to go")

    @property
    def launcher(self) -> str:
        return f"10.77.{self.slot}.254"

    def address(self, number: int) -> str:
        return f"10.77.{self.slot}.{number}"

    def proxy_address(self, number: int) -> str:
        """An address of this machine that stands for node `number`."""
        address = f"10.77.{self.slot}.{200 + number}"
        run(["ip", "address", "replace", f"{address}/24", "dev", _uplink(self.slot)])
        return address

    def connect(self, number: int, name: str, pid: int) -> Wire:
        """Give the network namespace of process `pid` the `eth0` of node `number`; `name` is the bridge's end.

        The hardware address stays the same from one boot to the next, as neighbours remember it.
        """
        inside, hardware = _inside(self.switch), f"02:6c:61:62:{self.slot:02x}:{number:02x}"
        peer = ["peer", "name", "eth0", "address", hardware, "netns", str(pid)]
        run([*inside, "ip", "link", "add", name, "type", "veth", *peer])
        run([*inside, "ip", "link", "set", name, "master", "bridge", "up"])
        return Wire(self.switch, name)


def _uplink(slot: int) -> str:
    return f"lab{slot}"


def _inside(switch: Recorded) -> list[str]:
    return ["nsenter", f"--target={switch.pid}", "--net"]
