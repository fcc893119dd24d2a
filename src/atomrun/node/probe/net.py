"""Whether nodes reach each other on a port: one side accepts, the others connect."""

# ruff: noqa: UP006, UP035 - must run on Python 3.6
import socket
import time
from typing import Any, Dict, List

__all__ = ["accept", "connect"]

PAUSE_S = 0.2


def accept(address: str, port: int, count: int, seconds: float) -> Dict[str, Any]:
    """Listen until `count` connections came or the time is up: {"peers": [...], "fault": ""}."""
    until = time.monotonic() + seconds
    peers: List[str] = []
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen(count)
        except OSError as error:
            return {"peers": [], "fault": f"cannot listen on {address} port {port}: {error.strerror}"}
        while len(peers) < count and time.monotonic() < until:
            listener.settimeout(max(0.1, until - time.monotonic()))
            try:
                connection, peer = listener.accept()
            except TimeoutError:
                break
            connection.close()
            peers.append(peer[0])
    return {"peers": peers, "fault": ""}


def connect(address: str, port: int, seconds: float) -> Dict[str, Any]:
    """Try until a connection is made or the time is up: {"fault": why not}."""
    until = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((address, port), timeout=max(0.1, until - time.monotonic())).close()
            return {"fault": ""}
        except OSError as error:
            fault = str(error.strerror or error)
        if time.monotonic() >= until:
            return {"fault": fault}
        time.sleep(PAUSE_S)
