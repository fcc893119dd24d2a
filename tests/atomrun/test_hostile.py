"""Config fields that try to be shell, markup, terminal escapes, options or paths: refused in words, or passed on as
they were written. What arrives in the process is compared, and nothing else may have run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from atomcfg.cli.compiling import compile_files, parse_override
from atomcfg.plan import EnvVar, Plan
from atomcfg.tokens import Token, fill
from atomrun.channel import AgentHost
from atomrun.jobs import Place, Task, environment, job

from .nodes import Node

DEMO = Path(__file__).resolve().parents[2] / "examples/demo"
HOSTILE = (
    "$(touch {pwned})", "`touch {pwned}`", "; touch {pwned} #", "x' ; touch {pwned} ; '", 'x" && touch {pwned}; "',
    "x\ntouch {pwned}\n", "-v /:/host", "--privileged", "../../../{pwned}", "<script>alert(1)</script>",
    "\x1b[2J\x1b]0;x\x07",
    "x\\", "%s%n", "{{7*7}}", "\u202emoc.live", "x\r\ny",
)  # fmt: skip
# Sets its arguments and environment down, whatever the plan calls it.
RECORDER = 'for word; do printf "%s\\0" "$word"; done; printf "\\n--\\n"; env -0'


def fields(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all texts of a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not key.startswith(("_", "$")):
                yield from fields(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from fields(inner, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path


EXTRA = ("roles.server.env.NOTE", "model.precision", "model.served_name", "container.runtime.args.env.NOTE")
FIELDS = sorted({*fields(json.loads((DEMO / "mi3xx_atom_demo_single.json").read_text())), *EXTRA})


def compiled(field: str, value: str) -> Plan | None:
    """The plan with this value in this field; None if the compiler refuses it. It may not fail otherwise."""
    override = parse_override(f"{field}={json.dumps(value)}")
    assert override is not None
    config, cluster = DEMO / "mi3xx_atom_demo_single.json", DEMO / "cluster.json"
    result = compile_files(
        str(config), cluster=str(cluster), lab=str(DEMO / "lab.toml"), profile=None, overrides=[override]
    )
    assert result.plan is not None or result.diagnostics
    return result.plan


def commands(plan: Plan) -> Iterator[tuple[Sequence[Token], Sequence[EnvVar]]]:
    launch = plan.sessions[0].ranks[0]
    yield launch.argv, launch.env
    yield plan.cells[0].argv, plan.cells[0].env


@pytest.mark.parametrize("field", FIELDS)
def test_a_hostile_field_is_refused_or_arrives_as_it_is(
    field: str, node: Node, host: AgentHost, tmp_path: Path
) -> None:
    pwned = tmp_path / "pwned"
    seen: set[tuple[str, ...]] = set()
    for text in HOSTILE:
        plan = compiled(field, text.replace("{pwned}", str(pwned)))
        for argv, entries in commands(plan) if plan is not None else ():
            words = tuple(fill(token, unknown=str) for token in argv)
            env = {each.name: fill(each.value or "", unknown=str) for each in entries}
            key = (*words, *map("=".join, env.items()))
            if key in seen:
                continue
            seen.add(key)
            arrives(host, tmp_path / str(len(seen)), len(seen), words, env)
    assert not pwned.exists()
    assert not list(Path("/").glob("pwned*"))


def arrives(host: AgentHost, folder: Path, number: int, words: tuple[str, ...], env: dict[str, str]) -> None:
    place = Place(str(folder))
    program = ("sh", "-c", RECORDER, *words)
    plain, _ = environment([EnvVar(name, value) for name, value in env.items()], {}, ())
    host.start(job(place, "run-1", Task(f"job-{number}", program, 30, plain)))
    ended = host.wait([f"job-{number}"], 30)
    assert ended is not None
    said = host.output(f"job-{number}", "out").partition(b"\n")[2]  # after the wrapper's own line
    told, _, variables = said.partition(b"\n--\n")
    assert told.decode().split("\0")[:-1] == list(words[1:])
    there = dict(line.split("=", 1) for line in variables.decode().split("\0") if "=" in line)
    assert {name: there.get(name) for name in env} == env
