"""The scripts that go to nodes: sound for every shell, and right against a stand-in runtime."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from atomrun.scripts import pairs, probe_archive, script

SHELLS = [shell for shell in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(shell[0])]
NAMES = sorted(path.name.removesuffix(".sh") for path in Path(str(files("atomrun"))).glob("node/scripts/*.sh"))

DOCKER = """\
#!/bin/sh
# A runtime with one container (in $STATE: name, running, owner, run) and one image.
[ -z "$DOWN" ] || { echo 'Cannot connect to the Docker daemon' >&2; exit 1; }
read -r name running owner run <"$STATE"
case $1 in
ps) [ "$2" = -q ] || { echo '1111 other'; [ -z "$name" ] || echo "abc $name"; } ;;
images) echo sha256:aaaa ;;
image) [ "$5" = rocm/atom:1 ] && echo sha256:aaaa || exit 1 ;;
inspect) case $5 in *State*) echo "abc|$running|$owner|$run|sha256:aaaa" ;; *) echo "$run" ;; esac ;;
rm) echo "$*" >>"$STATE.removed" ;;
*) exit 64 ;;
esac
"""

SUDO = """\
#!/bin/sh
[ "$1" = -n ] && [ -n "$SUDO_OK" ] || { echo 'sudo: a password is required' >&2; exit 1; }
shift
DOWN= exec "$@"
"""


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    """A folder of stand-in programs, first on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "state").write_text("box true me@here run-1\n")
    program(folder, "docker", DOCKER)
    program(folder, "sudo", SUDO)
    return folder


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def run(
    bin_: Path,
    name: str,
    *args: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    shell: Sequence[str] = ("sh",),
) -> subprocess.CompletedProcess[bytes]:
    settings = {
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "STATE": str(bin_.parent / "state"),
        "DOWN": "",
        **(env or {}),
    }
    argv = [*shell, "-c", script(name), name, *args]
    return subprocess.run(argv, input=stdin, env=settings, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_every_shell_can_read_every_script(shell: list[str], name: str) -> None:
    done = subprocess.run([*shell, "-n", "-c", script(name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- preflight


def checked(bin_: Path, *args: str, **how: object) -> dict[str, str]:
    done = run(bin_, "preflight", *args, **how)
    assert done.returncode == 0, done.stderr
    return dict(pairs(done.out if hasattr(done, "out") else done.stdout))


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_preflight_finds_what_is_there(bin_: Path, tmp_path: Path, shell: list[str]) -> None:
    told = checked(bin_, "docker", "rocm/atom:1", str(tmp_path / "deep/run"), "", "/etc", shell=shell)
    assert (told["runtime"], told["image"]) == ("docker", "sha256:aaaa")
    assert int(told["disk_kb"]) > 0
    assert (tmp_path / "deep/run/.atomrun").is_file()
    assert not {"missing", "port"} & told.keys()


def test_preflight_finds_what_is_not(bin_: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = checked(bin_, "docker", "rocm/other:1", str(tmp_path / "file/run"), "", "/no/such/path")
    assert (told["image"], told["missing"]) == ("absent", "/no/such/path")
    assert "run_dir_error" in told


@pytest.mark.parametrize(
    ("sudo", "key", "value"), [("1", "runtime", "sudo -n docker"), ("", "runtime_error", "password")]
)
def test_preflight_tries_sudo_once(bin_: Path, tmp_path: Path, sudo: str, key: str, value: str) -> None:
    told = checked(bin_, "docker", "rocm/atom:1", str(tmp_path / "r"), "", env={"DOWN": "1", "SUDO_OK": sudo})
    assert value in told[key]
    assert ("image" in told) is bool(sudo)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_preflight_names_who_holds_a_port(
    bin_: Path, tmp_path: Path, shell: list[str], family: socket.AddressFamily
) -> None:
    with socket.socket(family) as listener:
        listener.bind(("", 0))
        listener.listen()
        port = listener.getsockname()[1]
        told = checked(bin_, "", "", str(tmp_path / "r"), f"{port}", shell=shell)
    assert told["port"].startswith(f"{port} is in use by pid {os.getpid()}: ")


# --- containers


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@pytest.mark.parametrize(
    ("name", "told"),
    [("box", "abc|true|me@here|run-1|sha256:aaaa"), ("bo", "absent"), ("box2", "absent"), ("b.x", "absent")],
)
def test_a_container_is_looked_up_by_its_exact_name(bin_: Path, shell: list[str], name: str, told: str) -> None:
    done = run(bin_, "container_state", name, "docker", shell=shell)
    assert (done.returncode, done.stdout.decode().strip()) == (0, told)


@pytest.mark.parametrize("name", ["container_state", "container_remove"])
def test_a_runtime_that_is_down_is_unknown(bin_: Path, name: str) -> None:
    args = ["box", "docker"] if name == "container_state" else ["run-1", "box", "docker"]
    assert run(bin_, name, *args, env={"DOWN": "1"}).returncode == 3


@pytest.mark.parametrize(
    ("owner", "name", "code", "removed"),
    [("run-1", "box", 0, True), ("run-2", "box", 4, False), ("run-1", "other-name", 0, False)],
)
def test_only_a_container_of_the_run_is_removed(
    bin_: Path, owner: str, name: str, code: int, removed: bool
) -> None:
    assert run(bin_, "container_remove", owner, name, "docker").returncode == code
    log = bin_.parent / "state.removed"
    assert (log.read_text().split() if log.exists() else []) == (["rm", "--force", "abc"] if removed else [])


# --- our tools


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_tools_are_put_and_taken_away(bin_: Path, tmp_path: Path, shell: list[str]) -> None:
    tools, run_dir = tmp_path / "tools", tmp_path / "run/dir"
    for _ in range(2):  # a second time is fine
        done = run(bin_, "install", str(tools), str(run_dir), stdin=b"\xff\x00probe", shell=shell)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode().strip().endswith("python3")
    assert (tools / "probe.pyz").read_bytes() == b"\xff\x00probe"
    assert tools.stat().st_mode & 0o777 == 0o700
    assert run_dir.stat().st_mode & 0o777 == 0o755
    assert run(bin_, "uninstall", str(tools), shell=shell).returncode == 0
    assert not tools.exists()


def test_tools_are_not_put_into_what_is_not_ours(bin_: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tools").symlink_to(tmp_path / "elsewhere")
    assert run(bin_, "install", str(tmp_path / "tools"), str(tmp_path / "r")).returncode == 3
    run(bin_, "uninstall", str(tmp_path / "elsewhere"))
    assert (tmp_path / "elsewhere").is_dir(), "it has no mark of ours"


@pytest.mark.parametrize("code", [4, 5])
def test_a_place_without_a_run_directory_or_python(bin_: Path, tmp_path: Path, code: int) -> None:
    (tmp_path / "file").write_text("")
    run_dir = tmp_path / ("file/run" if code == 4 else "run")
    only = tmp_path / "only"
    only.mkdir()
    for name in ("mkdir", "cat", "mv"):
        (only / name).symlink_to(shutil.which(name) or "")
    env = {} if code == 4 else {"PATH": str(only)}
    shell = [shutil.which("sh") or "sh"]
    assert run(bin_, "install", str(tmp_path / "t"), str(run_dir), env=env, shell=shell).returncode == code


def test_only_an_empty_run_directory_is_forgotten(bin_: Path, tmp_path: Path) -> None:
    for name, inside, stays in (
        ("a", [".atomrun"], False),
        ("b", [".atomrun", "x"], True),
        ("c", ["x"], True),
        ("d", [], True),
    ):
        folder = tmp_path / name
        folder.mkdir()
        for file in inside:
            (folder / file).touch()
        assert run(bin_, "forget_empty", str(folder)).returncode == 0
        assert folder.exists() is stays
    assert run(bin_, "forget_empty", str(tmp_path / "none")).returncode == 0


def test_the_newest_file_is_by_the_date_in_its_name(bin_: Path, tmp_path: Path) -> None:
    for folder, name, text in (
        ("b", "results_2026-05-01T10-00-00.json", "old"),
        ("a", "results_2026-05-02T10-00-00.json", "new"),
        ("z", "samples_2026-05-03.jsonl", "other"),
    ):
        (tmp_path / "out" / folder).mkdir(parents=True)
        (tmp_path / "out" / folder / name).write_text(text)
    assert run(bin_, "newest", str(tmp_path / "out"), "results_*.json").stdout == b"new"
    assert run(bin_, "newest", str(tmp_path / "out"), "none_*").returncode == 3
    assert run(bin_, "newest", str(tmp_path / "nowhere"), "results_*.json").returncode == 3


# --- fabric, kernel, GPUs


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ("2 HCAs found:\\n\\tionic_0\\n\\tionic_1\\n", ["hca ionic_0", "hca ionic_1"]),
        (
            "3 HCAs found:\\n\\tmlx5_10\\n\\tmlx5_2\\n\\tmlx5_bond_0\\n",
            ["hca mlx5_10", "hca mlx5_2", "hca mlx5_bond_0"],
        ),
        ("0 HCAs found:\\n", []),
    ],
)
def test_every_device_that_the_kernel_lists_counts(
    bin_: Path, shell: list[str], listed: str, told: list[str]
) -> None:
    program(bin_, "ibv_devinfo", f"#!/bin/sh\nprintf '{listed}'\necho 'libibverbs: Warning: driver' >&2\n")
    program(bin_, "ip", "#!/bin/sh\nexit 1\n")
    assert run(bin_, "fabric", "10.0.0.5", "10.0.0.1", shell=shell).stdout.decode().splitlines() == told


IP = """\
#!/bin/sh
case $* in
*addr*)
  echo '1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever'
  echo '2: docker0    inet 172.17.0.1/16 scope global docker0\\       valid_lft forever'
  echo '3: bond0.200    inet 10.0.0.5/31 scope global bond0.200\\       valid_lft forever'
  echo '4: eth1    inet 10.0.0.50 peer 10.0.0.51/32 scope global eth1\\       valid_lft forever' ;;
*route*) echo '10.0.0.1 via 10.9.9.1 dev ens7 src 10.9.9.9 uid 0 \\    cache' ;;
esac
"""


@pytest.mark.parametrize(
    ("address", "netdev"), [("10.0.0.5", "bond0.200"), ("10.0.0.50", "eth1"), ("10.0.0.99", "ens7")]
)
def test_the_interface_is_the_one_with_the_address_else_the_way_to_the_master(
    bin_: Path, address: str, netdev: str
) -> None:
    program(bin_, "ibv_devinfo", "#!/bin/sh\nexit 1\n")
    program(bin_, "ip", IP)
    assert f"netdev {netdev}" in run(bin_, "fabric", address, "10.0.0.1").stdout.decode().splitlines()


def test_the_kernel_log_is_read_with_roots_rights_where_that_is_needed(bin_: Path) -> None:
    program(bin_, "dmesg", '#!/bin/sh\n[ -n "$ROOT" ] || { echo "not permitted" >&2; exit 1; }\necho line\n')
    program(bin_, "sudo", '#!/bin/sh\nshift\nROOT=1 exec "$@"\n')
    assert run(bin_, "kernel_log").stdout == b"line\n"


@pytest.mark.parametrize(("tool", "words"), [("amd-smi", "metric --usage"), ("rocm-smi", "--showuse")])
def test_the_poll_samples_until_its_time_is_up(bin_: Path, tool: str, words: str) -> None:
    for name in ("amd-smi", "rocm-smi"):
        program(bin_, name, f"#!/bin/sh\nprintf '%s\\n' '[{{' '  \"{name}\": \"GPU use (%)\"' '}}]'\n")
    program(bin_, "sleep", "#!/bin/sh\n")
    if tool == "rocm-smi":
        (bin_ / "amd-smi").unlink()
    assert words in script("gpu_poll")
    env = {"PATH": f"{bin_}:/usr/bin:/bin"}
    done = run(bin_, "gpu_poll", "1", "3600", "60", env=env)
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("@ ")
    assert lines[0].endswith(f" {tool}")
    assert lines[1] == f'[{{ "{tool}": "GPU use (%)" }}] ' or lines[1].strip() == f'[{{ "{tool}": "GPU use (%)" }}]'
    assert len(done.stdout) < 500, "the size is capped"


def test_a_host_without_a_gpu_tool(bin_: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    shell = [shutil.which("sh") or "sh"]
    assert run(bin_, "gpu_poll", "1", "1", "1", env={"PATH": str(tmp_path / "none")}, shell=shell).returncode == 3


def test_memory_without_gpus_is_settled_at_once(bin_: Path) -> None:
    assert run(bin_, "vram_settles", "10", "0").stdout == b"vram 0\n"


# --- the probe's archive


def test_the_archive_is_the_same_every_time_and_runs(tmp_path: Path) -> None:
    first = probe_archive()
    probe_archive.cache_clear()
    assert probe_archive() == first
    names = zipfile.ZipFile(io.BytesIO(first)).namelist()
    assert names[0] == "__main__.py"
    assert "probe/modes.py" in names
    (tmp_path / "probe.pyz").write_bytes(first)
    argv = [sys.executable, "-I", str(tmp_path / "probe.pyz"), "free", '{"ports": []}']
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == '@@ATOMRUN {"answer": {}}\n'
