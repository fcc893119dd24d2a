"""The fault proxy misbehaves as told, and no otherwise."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from .cluster import Cluster
from .faults import FaultProxy
from .node import Node
from .processes import wait_until

A_MOMENT = 0.2  # long enough for a byte to come through if it were not held


@contextmanager
def echo_server() -> Iterator[tuple[str, int]]:
    """Sends back what it gets, and closes when its client has."""

    def echo(connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(65536):
                    connection.sendall(data)
            except ConnectionResetError:
                pass

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(connection,)).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    with echo_server() as address, FaultProxy(("127.0.0.1", 0), address) as proxy:
        yield proxy


def connect(proxy: FaultProxy) -> socket.socket:
    return socket.create_connection(proxy.address, timeout=20)


def receive(connection: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size and (data := connection.recv(65536)):
        got += data
    return got


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(A_MOMENT)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    finally:
        connection.settimeout(20)
    return False


def test_passes_all_bytes_and_the_end(proxy: FaultProxy) -> None:
    payload = bytes(range(256)) * 20_000
    with connect(proxy) as connection:

        def send() -> None:
            connection.sendall(payload)
            connection.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        assert receive(connection, len(payload) + 1) == payload
        sender.join()
    wait_until(lambda: proxy.connections == 0, "the connection to close")


def test_delays(proxy: FaultProxy) -> None:
    with connect(proxy) as connection:
        proxy.delaying(0.01)
        connection.sendall(b"soon")
        assert receive(connection, 4) == b"soon"
        proxy.delaying(3600)
        connection.sendall(b"late")
        assert is_silent(connection)
        proxy.passing()
        assert receive(connection, 4) == b"late"


def test_black_hole_holds_what_is_sent_until_it_ends(proxy: FaultProxy) -> None:
    with connect(proxy) as old:
        old.sendall(b"x")
        assert receive(old, 1) == b"x"
        proxy.black_hole()
        with connect(proxy) as new:
            for connection in (old, new):
                connection.sendall(b"held")
                assert is_silent(connection)
            proxy.passing()
            for connection in (old, new):
                assert receive(connection, 4) == b"held"


def test_cut_resets_old_connections_and_new_ones(proxy: FaultProxy) -> None:
    with connect(proxy) as connection:
        connection.sendall(b"x")
        assert receive(connection, 1) == b"x"
        proxy.cut()
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
    with pytest.raises(ConnectionResetError), connect(proxy) as connection:
        connection.recv(1)
    proxy.passing()
    with connect(proxy) as connection:
        connection.sendall(b"y")
        assert receive(connection, 1) == b"y"


def test_server_that_is_down_looks_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    with FaultProxy(("127.0.0.1", 0), address) as proxy, connect(proxy) as connection:
        assert connection.recv(1) == b""


def ssh_argv(cluster: Cluster, proxy: FaultProxy, *argv: str) -> list[str]:
    alive = ["-o", "ConnectTimeout=1", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1"]
    host, port = proxy.address
    return ["ssh", *cluster.ssh_options, *alive, "-p", str(port), f"root@{host}", *argv]


def test_ssh_through_a_proxy_keeps_strict_host_keys(cluster: Cluster, node: Node) -> None:
    with cluster.proxy(node) as proxy:
        assert subprocess.check_output(ssh_argv(cluster, proxy, "hostname"), text=True).strip() == node.name


@pytest.mark.parametrize("fault", [FaultProxy.black_hole, FaultProxy.cut])
def test_ssh_notices_a_fault_under_way_and_at_the_start(
    cluster: Cluster, node: Node, fault: Callable[[FaultProxy], None]
) -> None:
    with cluster.proxy(node) as proxy:
        argv = ssh_argv(cluster, proxy, "echo up; exec sleep 600")
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as session:
            assert session.stdout is not None
            assert session.stdout.readline() == b"up\n"
            fault(proxy)
            assert session.wait(timeout=30) == 255
        assert subprocess.run(ssh_argv(cluster, proxy, "true"), capture_output=True, timeout=30).returncode == 255
        proxy.passing()
        assert subprocess.run(ssh_argv(cluster, proxy, "true"), capture_output=True, timeout=30).returncode == 0


def test_cluster_file_leads_through_proxies(cluster: Cluster) -> None:
    first, second = cluster.nodes
    with cluster.proxy(first) as one, cluster.proxy(second) as two:
        document = cluster.document(2, proxies=[one, two])
    assert list(document["node_dict"]) == [one.address[0], two.address[0]]
    assert [each["vpc_ip"] for each in document["node_dict"].values()] == [first.address, second.address]
    assert document["ssh_port"] == one.address[1] == two.address[1]
    assert document["head_node_dict"]["mgmt_ip"] == one.address[0]
