"""The lab's container image: a small Debian or Ubuntu with Python and the stand-in engines.

Built in two steps, each cached by a hash of its inputs: the base (debootstrap, about a minute), and the engines as
a layer on top (below a second). Both live in one image store, which nodes mount read-only, so that a node has the
image from the start. `python -m tests.lab.image` builds it ahead of the tests.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from .processes import run

__all__ = ["Image", "build", "cache_dir"]

_REHEARSAL = Path(__file__).resolve().parents[2] / "src" / "atomrun" / "rehearsal"
_PACKAGES = ("python3", "python3-aiohttp", "util-linux", "procps", "iproute2")
_BASE_RECIPE = "2"  # change it when the steps of _make_base change
_KEPT = 10
_UNUSED = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")
_SITE = "/usr/lib/python3/dist-packages/"
_CONTAINERFILE = f"""\
FROM localhost/atom-lab-base:{{base}}
COPY engines/ {_SITE}
COPY bin/ /usr/local/bin/
"""


@frozen
class Image:
    """`name` is what a plan says; `store` is the read-only image store that holds it."""

    name: str
    store: Path


def cache_dir() -> Path:
    """`$ATOMCFG_LAB_CACHE`, by default `~/.cache/atomcfg-lab`. Needs a file system that overlayfs can use."""
    return Path(os.environ.get("ATOMCFG_LAB_CACHE") or Path.home() / ".cache" / "atomcfg-lab").resolve()


def build() -> Image:
    """The image, built if its inputs changed. Safe to call from several processes at once."""
    codename, apt = _distribution()
    base = _digest(_BASE_RECIPE, codename, *_PACKAGES)
    folder = cache_dir() / f"image-{base}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = _engine_files()
    name = f"localhost/atom-lab:{_digest(base, _CONTAINERFILE, *files, *files.values())}"
    with _locked(folder / "lock"):
        podman = _podman(folder, base)
        if not _exists(podman, f"localhost/atom-lab-base:{base}"):
            _make_base(podman, codename, apt, folder, f"localhost/atom-lab-base:{base}")
        if not _exists(podman, name):
            _add_engines(podman, folder, base, files, name)
            _forget_old(podman)
    return Image(name, folder / "store")


@frozen
class _AptSource:
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    keyring: str = ""


def _distribution() -> tuple[str, _AptSource]:
    """The machine's own release and where apt gets it from, whatever mirror that is."""
    codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
    for source in _apt_sources(Path("/etc/apt")):
        if codename in source.suites and "main" in source.components:
            return codename, source
    raise LookupError(f"no source for {codename} main in /etc/apt: debootstrap needs a mirror")


def _apt_sources(folder: Path) -> Iterator[_AptSource]:
    for path in sorted(folder.glob("sources.list.d/*.sources")):
        for stanza in path.read_text().split("\n\n"):
            lines = [line.partition(":") for line in stanza.splitlines() if line[:1].isalpha()]
            fields = {key.lower(): tuple(value.split()) for key, _, value in lines}
            if "deb" in fields.get("types", ()) and fields.get("enabled") != ("no",):
                keyring = next((word for word in fields.get("signed-by", ()) if word.startswith("/")), "")
                yield _AptSource(fields["uris"][0], fields["suites"], fields.get("components", ()), keyring)
    for path in (folder / "sources.list", *sorted(folder.glob("sources.list.d/*.list"))):
        for line in path.read_text().splitlines() if path.exists() else ():
            words = re.sub(r"\[.*?\]|#.*", "", line).split()
            if words[:1] == ["deb"] and len(words) > 3:
                yield _AptSource(words[1], (words[2],), tuple(words[3:]))


def _make_base(podman: list[str], codename: str, apt: _AptSource, folder: Path, name: str) -> None:
    with _scratch(folder) as scratch:
        root = scratch / "root"
        options = [f"--include={','.join(_PACKAGES)}", f"--components={','.join(apt.components)}"]
        if apt.keyring:
            options.append(f"--keyring={apt.keyring}")
        # In namespaces of its own: if this session is killed, neither it nor its mounts stay.
        bound = ["setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"]
        debootstrap = ["debootstrap", "--variant=minbase", *options, codename, str(root), apt.uri]
        run([*bound, *debootstrap], timeout=900)
        for path in _UNUSED:
            shutil.rmtree(root / path, ignore_errors=True)
        # The mirror and the machine's name are nobody's business in an image.
        shutil.rmtree(root / "etc/apt")
        (root / "etc/hostname").unlink(missing_ok=True)
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        archive = scratch / "base.tar"
        run(["tar", "-C", str(root), "-cf", str(archive), "."], timeout=300)
        run([*podman, "import", "--quiet", str(archive), name], timeout=300)


def _add_engines(podman: list[str], folder: Path, base: str, files: Mapping[str, bytes], name: str) -> None:
    with _scratch(folder) as context:
        for part in ("engines", "bin"):
            (context / part).mkdir()
        for path, content in files.items():
            (context / path).parent.mkdir(parents=True, exist_ok=True)
            (context / path).write_bytes(content)
            (context / path).chmod(0o755)
        (context / "Containerfile").write_text(_CONTAINERFILE.format(base=base))
        flags = ["--quiet", "--isolation=chroot", "--pull=never"]
        run([*podman, "build", *flags, "--tag", name, str(context)], timeout=300)


def _forget_old(podman: list[str]) -> None:
    """Keep the latest images; others may be in use by sessions that run now."""
    listed = run([*podman, "images", "--sort=created", "--quiet", "--filter=reference=localhost/atom-lab"]).split()
    if outdated := listed[_KEPT:]:
        run([*podman, "rmi", "--force", *outdated])


def _podman(folder: Path, base: str) -> list[str]:
    # podman refuses a runroot of more than 50 characters. Nothing runs here, so nothing stays in it.
    run_root = f"/run/atomcfg-lab/{base}"
    roots = [f"--root={folder / 'store'}", f"--runroot={run_root}", f"--tmpdir={run_root}/tmp"]
    flags = ["--storage-driver=overlay", "--cgroup-manager=cgroupfs", "--runtime=runc", "--events-backend=none"]
    return ["podman", *roots, *flags]


def _exists(podman: list[str], name: str) -> bool:
    return bool(run([*podman, "images", "--quiet", f"--filter=reference={name}"]).strip())


def _engine_files() -> dict[str, bytes]:
    """The stand-ins by their path below `rehearsal/`, read once: they may be edited while the image is built."""
    paths = sorted(_REHEARSAL.glob("engines/**/*")) + sorted(_REHEARSAL.glob("bin/**/*"))
    wanted = [path for path in paths if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(_REHEARSAL)): path.read_bytes() for path in wanted}


def _digest(*parts: str | bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part.encode() if isinstance(part, str) else part).digest())
    return total.hexdigest()[:12]


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """An empty directory, whatever a killed build left; call it under the lock."""
    path = folder / "scratch"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    yield path
    shutil.rmtree(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    print(build().name)
