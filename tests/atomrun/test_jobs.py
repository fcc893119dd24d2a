"""From argv to commands and jobs, and the wrapper under real shells."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.plan import EnvVar
from atomcfg.tokens import Hole, bind, template
from atomrun.jobs import Place, Task, command, environment, job, record_of

HOST = Place("/root/tools")
BOX = Place("/tmp/atomrun-r", "/usr/bin/python3", ("sudo", "-n", "docker"), "box")


def test_a_command_in_a_container() -> None:
    assert command(BOX, ["ls", "-l"], {"A": "x y"}) == (
        "sudo", "-n", "docker", "exec", "-i", "-e", "A=x y", "box", "ls", "-l",
    )  # fmt: skip


def test_a_command_on_the_host() -> None:
    assert command(HOST, ["ls"]) == ("ls",)
    assert command(HOST, ["ls"], {"A": "1"}) == ("env", "A=1", "ls")


def test_a_job_in_a_container_can_be_stopped_inside() -> None:
    spec = job(
        BOX, "run-1", Task("server", ("python", "-m", "x"), 60, {"A": "1"}, (("HF_TOKEN", "hf"),), grace_s=7)
    )
    assert spec.argv[:9] == ("sudo", "-n", "docker", "exec", "-i", "-e", "A=1", "-e", "ATOMRUN_JOB=run-1/server")
    assert spec.argv[-6:] == ("atomrun", "/tmp/atomrun-r/jobs/server", "", "python", "-m", "x")
    assert spec.secret_input == (("HF_TOKEN", "hf"),)
    assert spec.env == {}
    assert spec.stop_argv[:7] == ("sudo", "-n", "docker", "exec", "-i", "box", "/usr/bin/python3")
    assert spec.stop_argv[7:9] == ("/tmp/atomrun-r/probe.pyz", "stop")
    assert json.loads(spec.stop_argv[9]) == {
        "job": "run-1/server",
        "record": record_of(BOX, "server"),
        "grace_s": 7,
    }


def test_a_job_on_the_host_is_the_supervisors_to_stop() -> None:
    spec = job(HOST, "run-1", Task("server", ("x",), 60, {"A": "1"}))
    assert (spec.argv[:2], spec.env, spec.stop_argv) == (("sh", "-c"), {"A": "1"}, ())


def test_an_environment_is_bound_and_split() -> None:
    entries = [
        EnvVar("PORT", template("x", bind(Hole.HTTP_PORT, "8000"))),
        EnvVar("EMPTY"),
        EnvVar("HF_TOKEN", secret="hf"),
        EnvVar("OTHER", secret="absent"),
    ]
    assert environment(entries, {"http_port": "9000"}, ["hf"]) == (
        {"PORT": "x9000", "EMPTY": ""},
        (("HF_TOKEN", "hf"),),
    )


# --- the wrapper

SHELLS = [shell for shell in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(shell[0])]
SHOW = """if True:
    import json, os, sys
    numbers = os.getpid(), os.getpgid(0), os.getsid(0)
    print(json.dumps([sys.argv[1:], dict(os.environ), *numbers, sys.stdin.read()]))
"""


def wrapped(
    tmp_path: Path,
    argv: Sequence[str],
    shell: Sequence[str] = ("sh",),
    *,
    fresh: str = "",
    stdin: bytes = b"",
    leader: bool = True,
) -> subprocess.CompletedProcess[bytes]:
    spec = job(Place(str(tmp_path)), "r", Task("x", tuple(argv), 60, fresh=fresh))
    line = [*shell, *spec.argv[1:]]
    return subprocess.run(line, input=stdin, capture_output=True, start_new_session=leader, timeout=60, check=False)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@pytest.mark.parametrize("leader", [True, False])
def test_the_program_has_its_own_group_and_is_on_record(tmp_path: Path, shell: list[str], leader: bool) -> None:
    done = wrapped(tmp_path, ["python3", "-c", SHOW, "a b"], shell, leader=leader)
    assert done.returncode == 0, done.stderr
    stamp, shown = done.stdout.decode().splitlines()
    assert stamp.startswith("atomrun: began 20")
    argv, _, pid, group, session, stdin = json.loads(shown)
    assert (argv, stdin) == (["a b"], "")
    assert pid == group == session or (leader and pid == group)
    recorded, _ = (tmp_path / "jobs/x").read_text().split()
    assert int(recorded) == pid
    assert (tmp_path / "jobs/x").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_secrets_come_from_standard_input(tmp_path: Path, shell: list[str]) -> None:
    values = {"HF_TOKEN": b"hf_x=='\"$(id) ", "B": b"two\nlines"}
    lines = b"".join(name.encode() + b"=" + base64.b64encode(value) + b"\n" for name, value in values.items())
    done = wrapped(tmp_path, ["python3", "-c", SHOW], shell, stdin=lines)
    env = json.loads(done.stdout.decode().splitlines()[1])[1]
    assert {name: env[name].encode() for name in values} == values


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_a_directory_must_be_fresh(tmp_path: Path, shell: list[str]) -> None:
    fresh = tmp_path / "deep/er/1"
    assert wrapped(tmp_path, ["true"], shell, fresh=str(fresh)).returncode == 0
    assert fresh.is_dir()
    again = wrapped(tmp_path, ["touch", str(tmp_path / "ran")], shell, fresh=str(fresh))
    assert again.returncode != 0
    assert not (tmp_path / "ran").exists(), "the program does not run over what another attempt left"


@pytest.mark.parametrize(
    ("argv", "code"), [(["sh", "-c", "exit 3"], 3), (["no-such-program"], 127), (["/etc"], 126)]
)
def test_exit_codes_are_the_programs_own(tmp_path: Path, argv: list[str], code: int) -> None:
    assert wrapped(tmp_path, argv).returncode == code


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=4))
def test_any_argument_arrives_unchanged(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    folder = tmp_path_factory.mktemp("w")
    done = wrapped(folder, ["printf", "%s\\0", *words] if words else ["printf", "\\0"])
    shown = done.stdout.partition(b"\n")[2].split(b"\0")[:-1]
    assert shown == ([os.fsencode(word) for word in words] if words else [b""])
