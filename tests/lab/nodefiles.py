"""What is on a node's disk before it is switched on for the first time."""

from __future__ import annotations

import hashlib
import json
import resource
import shutil
from collections.abc import Mapping
from pathlib import Path

from .processes import run

__all__ = ["USER", "add_model", "write"]

USER = "labuser"
"""The ordinary user of every node, with `sudo -n`."""

_DOCKER = Path(__file__).with_name("docker.sh")
_TOOLS = Path(__file__).resolve().parents[2] / "src/atomrun/rehearsal/bin"
_HOST_TOOLS = ("amd-smi", "ibv_devinfo", "rocm-smi")  # the engines are in containers only

_FOLDERS = """
dev images opt proc run shared sys tmp usr
etc/containers etc/pam.d etc/ssh etc/sudoers.d
home/{user}/LOGS home/{user}/models home/root/LOGS home/root/models models
root var/cache var/lib/containers var/lib/sudo var/log var/tmp
"""

_FILES = {
    "etc/hostname": "{name}\n",
    "etc/machine-id": "{machine_id}\n",
    "etc/passwd": """\
root:x:0:0:root:/root:/bin/bash
sshd:x:100:65534::/run/sshd:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
{user}:x:1000:1000::/home/{user}:/bin/bash
""",
    "etc/shadow": "root:*:19000:0:99999:7:::\n{user}:*:19000:0:99999:7:::\n",
    "etc/group": "root:x:0:\ntty:x:5:\nvideo:x:44:{user}\nrender:x:109:{user}\n{user}:x:1000:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\n",
    "etc/resolv.conf": "",
    "etc/pam.d/other": """\
auth required pam_permit.so
account required pam_permit.so
session required pam_permit.so
""",
    "etc/sudoers": """\
Defaults env_reset
Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
{user} ALL=(ALL:ALL) NOPASSWD: ALL
""",
    "etc/ssh/sshd_config": """\
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/authorized_keys
PasswordAuthentication no
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
""",
    "etc/containers/policy.json": '{{"default": [{{"type": "insecureAcceptAnything"}}]}}\n',
    "etc/containers/registries.conf": "",
    "etc/containers/storage.conf": """\
[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
[storage.options]
additionalimagestores = ["/images"]
""",
    # crun refuses some machines' cgroup layout; podman's own limits need CAP_SYS_RESOURCE to be set.
    "etc/containers/containers.conf": """\
[containers]
default_ulimits = ["nofile={nofile}:{nofile}", "nproc={nproc}:{nproc}"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
""",
}

_FROM_MACHINE = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "profile", "bash.bashrc", "services")


def write(folder: Path, name: str, machine_id: str, hosts: Mapping[str, str], key: Path) -> str:
    """Lay out `folder/root` and `folder/local`; who holds `key` may log in. Returns the node's public host key."""
    root, local = folder / "root", folder / "local"
    values = {
        "name": name,
        "machine_id": machine_id,
        "user": USER,
        "nofile": _limit("NOFILE"),
        "nproc": _limit("NPROC"),
    }
    for path in _FOLDERS.format(**values).split():
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, text in _FILES.items():
        (root / path).write_text(text.format(**values))
    for path in _FROM_MACHINE:
        _copy(Path("/etc") / path, root / "etc" / path)
    lines = ["127.0.0.1 localhost", *(f"{address} {host}" for host, address in hosts.items())]
    (root / "etc/hosts").write_text("\n".join(lines) + "\n")
    shutil.copy(key.with_suffix(".pub"), root / "etc/ssh/authorized_keys")
    host_key = root / "etc/ssh/ssh_host_ed25519_key"
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(host_key)])

    (local / "bin").mkdir(parents=True)
    shutil.copy(_DOCKER, local / "bin/docker")
    for tool in _HOST_TOOLS:
        _copy(_TOOLS / tool, local / "bin" / tool)
    for program in (local / "bin").iterdir():
        program.chmod(0o755)

    (root / "etc/sudoers").chmod(0o440)
    (root / "etc/shadow").chmod(0o640)
    for path in ("tmp", "var/tmp"):
        (root / path).chmod(0o1777)
    (root / "root").chmod(0o700)
    run(["chown", "-R", "1000:1000", str(root / "home" / USER)])
    (root / "var/run").symlink_to("../run")
    return host_key.with_suffix(".pub").read_text()


def add_model(models: Path, model_id: str) -> None:
    """Put a model into a Hugging Face cache: the layout is real, the weights are a kilobyte of zeros."""
    folder = models / f"models--{model_id.replace('/', '--')}"
    revision = hashlib.sha1(model_id.encode(), usedforsecurity=False).hexdigest()
    snapshot = folder / "snapshots" / revision
    snapshot.mkdir(parents=True, exist_ok=True)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs/main").write_text(revision)
    index = {"metadata": {"total_size": 1024}, "weight_map": {"lm_head.weight": "model-00001-of-00001.safetensors"}}
    (snapshot / "config.json").write_text(json.dumps({"model_type": "lab", "vocab_size": 32000}))
    (snapshot / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 131072}))
    (snapshot / "model.safetensors.index.json").write_text(json.dumps(index))
    (snapshot / "model-00001-of-00001.safetensors").write_bytes(bytes(1024))


def _limit(name: str) -> int:
    """The machine's hard limit, or a large number where it has none."""
    hard: int = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
    return 1 << 20 if hard == resource.RLIM_INFINITY else hard


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    elif source.exists():
        shutil.copy(source, target)
