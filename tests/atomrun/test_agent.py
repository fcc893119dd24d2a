"""The agent itself, through real shells and processes: commands, jobs, files."""

from __future__ import annotations

import hashlib
import os
import random
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atomrun.channel import AgentHost
from atomrun.host import Completed, HostError, JobSpec, Refused, Stopped

from .nodes import RUN, Node, alive, job, script, wait_until

ARGUMENTS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=5)
EVERY_BYTE = bytes(range(256))


# --- commands


@pytest.mark.parametrize("code", [0, 1, 3, 126, 127, 255])
def test_run_gives_the_exit_status(anyhow: AgentHost, code: int) -> None:
    assert anyhow.run(script(f"exit {code}"), timeout=20) == Completed(code)


def test_run_tells_signals_and_missing_programs(anyhow: AgentHost) -> None:
    assert anyhow.run(script("kill -KILL $$"), timeout=20).code == 128 + signal.SIGKILL
    assert anyhow.run(("/no/such/program",), timeout=20).code == 127
    assert anyhow.run(("/etc/passwd",), timeout=20).code == 126


def test_run_keeps_streams_apart_and_exact(anyhow: AgentHost) -> None:
    data = random.Random(1).randbytes(3 << 20) + EVERY_BYTE + b"\xff\xfe\n\n"
    assert anyhow.run(("cat",), stdin=data, timeout=30) == Completed(0, data)
    done = anyhow.run(script("cat >&2; printf 'no newline'"), stdin=EVERY_BYTE, timeout=20)
    assert done == Completed(0, b"no newline", EVERY_BYTE)


def test_run_cuts_long_output_but_lets_the_command_finish(host: AgentHost) -> None:
    done = host.run(
        script("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2; exit 5"), timeout=20, limit=1000
    )
    assert (done.code, len(done.out), len(done.err)) == (5, 1000, 1000)


def test_run_has_no_input_unless_given(host: AgentHost) -> None:
    assert host.run(("cat",), timeout=20) == Completed(0)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ARGUMENTS)
def test_run_passes_arguments_verbatim(host: AgentHost, words: list[str]) -> None:
    done = host.run(("printf", r"%s\0", *words), timeout=20)
    assert done.out == b"".join(word.encode() + b"\0" for word in words or [""])


def test_run_passes_nasty_arguments_in_every_shell(anyhow: AgentHost) -> None:
    words = [
        "",
        "-n",
        "--",
        "~",
        "*",
        "{a,b}",
        "$(id)",
        "`id`",
        "$HOME",
        "a b",
        "'",
        '"',
        "\\",
        "\r\n\t",
        "!x",
        "é",
        "\x01",
    ]
    words += [
        "\x81\x82\x88",
        b"\xff\xfe".decode("utf-8", "surrogateescape"),
        "x" * 50_000,
        "a=b",
        "#",
        ";",
        "&&",
        "<",
        "|",
    ]
    done = anyhow.run(("printf", r"%s\0", *words), timeout=20)
    assert done.out.split(b"\0")[:-1] == [word.encode("utf-8", "surrogateescape") for word in words]


def test_run_is_killed_on_the_node_at_its_deadline(node: Node, host: AgentHost) -> None:
    with pytest.raises(HostError, match=r"killed after 0\.2 s: sh -c") as caught:
        host.run(script("setsid sleep 600 & echo $$; sleep 600"), timeout=0.2)
    assert caught.value.reason == "timeout"
    wait_until(lambda: not any("sleep 600" in line for line in node.processes().values()))


def test_run_leaves_nothing_on_the_node(node: Node, host: AgentHost) -> None:
    host.run(("cat",), stdin=b"x", timeout=20)
    wait_until(lambda: not list((node.root / "calls").iterdir()))


def test_run_needs_no_run(node: Node) -> None:
    assert node.connect().run(("echo", "hello"), timeout=20) == Completed(0, b"hello\n")


@pytest.mark.parametrize("argv", [(), ("",), ("A=b", "x"), ("echo", "a\0b")])
def test_run_refuses_what_is_no_command(host: AgentHost, argv: tuple[str, ...]) -> None:
    with pytest.raises(Refused):
        host.run(argv, timeout=20)


def test_commands_do_not_inherit_ignored_signals(host: AgentHost) -> None:
    ignored = host.run(("grep", "SigIgn", "/proc/self/status"), timeout=20).out.split()[1]
    assert int(ignored, 16) & (1 << signal.SIGINT - 1 | 1 << signal.SIGQUIT - 1) == 0


def test_facts(node: Node) -> None:
    facts = node.connect().facts()
    assert facts["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert (facts["hostname"], facts["uid"]) == (os.uname().nodename, str(os.getuid()))
    assert "python3" in facts["tools"].split()
    assert abs(float(facts["clock_offset_ms"])) <= float(facts["rtt_ms"])


# --- jobs


def test_a_job_runs_and_its_end_is_seen(anyhow: AgentHost) -> None:
    text = "cat; printf out; printf err >&2; echo $ATOMRUN_JOB $A >&2; exit 3"
    assert anyhow.start(JobSpec("j", script(text), 60, env={"A": "x y"})) is True
    ended = anyhow.wait(["j"], 20)
    assert ended is not None
    assert (ended.name, ended.state, ended.code) == ("j", "exited", 3)
    assert 0 <= ended.seconds < 20
    assert anyhow.output("j", "out") == b"out"
    assert anyhow.output("j", "err") == f"err{RUN}/j x y\n".encode()


def test_a_second_start_adopts_and_another_content_is_refused(anyhow: AgentHost) -> None:
    assert anyhow.start(job("j", *script("echo once; exit 4"))) is True
    assert anyhow.start(job("j", *script("echo once; exit 4"))) is False
    first = anyhow.wait(["j"], 20)
    assert anyhow.start(job("j", *script("echo once; exit 4"))) is False
    with pytest.raises(Refused, match="another command of that name exists: j"):
        anyhow.start(job("j", "true"))
    assert anyhow.wait(["j"], 20) == first
    assert anyhow.output("j", "out") == b"once\n"


def test_a_job_that_cannot_start_says_so(host: AgentHost) -> None:
    host.start(job("j", "/no/such/program"))
    ended = host.wait(["j"], 20)
    assert ended is not None
    assert ended.code == 127
    assert b"/no/such/program" in host.output("j", "err")


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ARGUMENTS)
def test_start_passes_arguments_verbatim(host: AgentHost, words: list[str]) -> None:
    name = f"j{hashlib.sha256(repr(words).encode()).hexdigest()[:12]}"
    host.start(job(name, "printf", r"%s\0", *words))
    assert host.wait([name], 20) is not None
    assert host.output(name, "out") == b"".join(word.encode() + b"\0" for word in words or [""])


def test_wait_returns_the_first_of_several_and_nothing_at_its_timeout(anyhow: AgentHost) -> None:
    anyhow.start(job("long", "sleep", "600"))
    assert anyhow.wait(["long"], 0.05) is None
    anyhow.start(job("short", "sleep", "0.1"))
    ended = anyhow.wait(["long", "short"], 20)
    assert ended is not None
    assert (ended.name, ended.code) == ("short", 0)
    assert anyhow.wait(["long"], 0.0) is None


def test_wait_leaves_no_waiter_behind(node: Node, host: AgentHost) -> None:
    host.start(job("long", "sleep", "600"))
    host.start(job("short", "true"))
    host.wait(["long", "short"], 600)
    wait_until(lambda: not any("flock" in line and "keeper" in line for line in node.processes().values()))


def test_a_killed_job_is_seen_with_its_signal(node: Node, host: AgentHost) -> None:
    host.start(job("j", "sleep", "600"))
    os.kill(node.pid_of("j"), signal.SIGKILL)
    ended = host.wait(["j"], 20)
    assert ended is not None
    assert (ended.state, ended.code) == ("exited", 137)


def test_a_killed_supervisor_means_lost_and_its_job_is_killed(anyhow: AgentHost, tmp_path: Path) -> None:
    anyhow.start(job("j", "sleep", "600"))
    folder = tmp_path / "root" / "runs" / RUN / "jobs" / "j"
    child, supervisor = (int((folder / name).read_text().split()[0]) for name in ("child", "sup"))
    os.kill(supervisor, signal.SIGKILL)
    ended = anyhow.wait(["j"], 20)
    assert ended is not None
    assert (ended.state, ended.code) == ("lost", None)
    wait_until(lambda: not alive(child))


def test_the_node_enforces_a_jobs_deadline(anyhow: AgentHost) -> None:
    anyhow.start(job("j", *script("trap '' TERM; sleep 600 & wait; wait"), deadline_s=1, stop_grace_s=0))
    ended = anyhow.wait(["j"], 20)
    assert ended is not None
    assert (ended.name, ended.state, ended.code) == ("j", "deadline", None)
    assert ended.seconds >= 1


def test_stop_terminates_and_repeats(anyhow: AgentHost) -> None:
    anyhow.start(job("j", *script("trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done")))
    wait_until(lambda: anyhow.output("j", "out"))
    assert anyhow.stop("j", grace=20) == Stopped("j")
    assert anyhow.output("j", "out") == b"up\nbye\n"
    ended = anyhow.wait(["j"], 20)
    assert ended is not None
    assert (ended.state, ended.code) == ("exited", 9)
    assert anyhow.stop("j", grace=20) == Stopped("j")


def test_stop_kills_what_ignores_it(host: AgentHost) -> None:
    host.start(job("j", *script("trap '' TERM; echo up; while :; do sleep 0.05; done")))
    wait_until(lambda: host.output("j", "out"))
    assert host.stop("j", grace=0) == Stopped("j")
    ended = host.wait(["j"], 20)
    assert ended is not None
    assert ended.code == 137


def test_stop_finds_what_left_the_group(anyhow: AgentHost) -> None:
    anyhow.start(job("j", *script("setsid sh -c 'echo $$; exec sleep 600' & wait")))
    wait_until(lambda: anyhow.output("j", "out"))
    escaped = int(anyhow.output("j", "out"))
    assert alive(escaped)
    assert anyhow.stop("j", grace=1) == Stopped("j")
    assert not alive(escaped)


def test_stop_touches_nobody_else(node: Node, host: AgentHost) -> None:
    """A forged record that names another process, and a bystander with the same command line."""
    host.start(job("bystander", "sleep", "600"))
    host.start(job("j", "sleep", "600"))
    bystander, real = node.pid_of("bystander"), node.pid_of("j")
    record = node.root / "runs" / RUN / "jobs" / "j" / "child"
    record.write_text(record.read_text().replace(str(real), str(bystander), 1))
    assert host.stop("j", grace=0) == Stopped("j")
    assert not alive(real)
    assert alive(bystander)


def test_the_stop_command_runs_before_the_signal(node: Node, host: AgentHost) -> None:
    text = "trap '[ -e asked ] && exit 7; exit 8' TERM; echo up; while :; do sleep 0.05; done"
    host.start(JobSpec("j", script(text), 60, stop_argv=script("touch ../asked; echo asking"), stop_grace_s=5))
    wait_until(lambda: host.output("j", "out"))
    assert host.stop("j", grace=5) == Stopped("j")
    ended = host.wait(["j"], 20)
    assert ended is not None
    assert ended.code == 7
    stopper = node.root / "runs" / RUN / "jobs" / "j" / "stopper"
    assert (stopper / "out").read_text() == "asking\n"
    assert int((stopper / "deadline").read_text()) == 25  # it may take its grace, and some time to start


def test_output_by_offset(host: AgentHost) -> None:
    host.start(job("j", "printf", "0123456789"))
    host.wait(["j"], 20)
    assert host.output("j", "out", 3, 4) == b"3456"
    assert host.output("j", "out", -3) == b"789"
    assert host.output("j", "out", -30, 2) == b"01"
    assert host.output("j", "out", 30) == b""
    with pytest.raises(ValueError, match="no such stream"):
        host.output("j", "both")


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", ".x", "-x", "ä", "x\ny"])
def test_names_are_plain(host: AgentHost, name: str) -> None:
    with pytest.raises(Refused, match="not a plain name"):
        host.start(job(name, "true"))


def test_unknown_jobs_are_refused(host: AgentHost) -> None:
    for ask in (lambda: host.wait(["x"], 1), lambda: host.stop("x", 1), lambda: host.output("x", "out")):
        with pytest.raises(Refused, match="no job of that name: x"):
            ask()
