"""Asks the image's own programs which options they have, before anything holds a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from atomcfg.plan import Container
from atomcfg.shell import quoted
from atomcfg.tokens import Token, fill
from atomrun.attend import log_text
from atomrun.containers import remover
from atomrun.context import NodeRun, RunContext
from atomrun.findings import Finding, verdict_of
from atomrun.helptext import options_in, options_of, program_of, stranger_to
from atomrun.host import HostError, JobSpec
from atomrun.outcomes import skipped, tell
from atomrun.results import StageResult, StageStatus
from atomrun.scripts import script

__all__ = ["flags"]

_DEADLINE_S = 180  # an engine may import all of itself for its help
_MARK = "@@ATOMRUN\n"
_HINT = "correct it in the config, or give --skip flags if the help does not name it"

Options = Mapping[tuple[str, ...], frozenset[str]]


def flags(run: RunContext) -> StageResult:
    """Each option of the plan's servers and clients must be in the help of its program, as a throw-away container
    on the head has it, without a device. A program whose help cannot be read is not checked."""
    container = run.plan.container
    if not run.in_containers or container is None:
        return skipped("flags", "no container: the programs refuse what they do not know when they start")
    if not run.record.facts.get(f"image {run.head.name}"):
        return skipped("flags", "the image is not there")
    used = _used(run)
    findings = list(_compare(run, container, used, _helps(run, container, list(used))))
    tell(run, findings)
    return verdict_of("flags", findings)


def _used(run: RunContext) -> Options:
    """The options that the plan gives to each program."""
    found: dict[tuple[str, ...], frozenset[str]] = {}
    ranks = [launch.argv for session in run.plan.sessions for launch in session.ranks]
    for tokens in (*ranks, *(cell.argv for cell in run.plan.cells)):
        argv = _words(tokens)
        program = program_of(argv)
        found[program] = found.get(program, frozenset()) | frozenset(options_of(argv))
    return found


def _words(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(fill(token, unknown=str) for token in tokens)


def _helps(run: RunContext, container: Container, programs: Sequence[tuple[str, ...]]) -> list[str]:
    """The help text of each program; "" for one that cannot be read."""
    node = run.head
    name = f"atomrun-help-{run.run_id}"
    commands = [quoted(program) for program in programs]
    made = ["run", "--rm", "--name", name, "--label", f"atomrun.run={run.run_id}", "--network", "none"]
    shell = ["--entrypoint", "sh", container.image, "-c", script("help"), "help", *commands]
    spec = JobSpec("flags", (*node.runtime, *made, *shell), _DEADLINE_S, stop_argv=remover(run, node, name))
    return _read(node, spec, len(programs))


def _read(node: NodeRun, spec: JobSpec, count: int) -> list[str]:
    try:
        node.host.start(spec)
        ended = node.host.wait([spec.name], spec.deadline_s + 60.0)
    except HostError:  # the run's later stages say what is wrong with the node
        ended = None
    texts = log_text(node, spec.name).split(_MARK)[1:] if ended is not None else []
    return [*texts, *[""] * count][:count]


def _compare(run: RunContext, container: Container, used: Options, helps: Sequence[str]) -> Iterator[Finding]:
    for (program, options), text in zip(used.items(), helps, strict=True):
        name, known = " ".join(program), options_in(text)
        strange = {option: stranger_to(known, option) for option in sorted(options)}
        unknown = {option: near for option, near in strange.items() if near is not None}
        if not known & options and options:
            yield Finding(run.head.name, "flags", StageStatus.SKIPPED, f"not checked, no help to read: {name}")
            continue
        for option, near in unknown.items():
            hint = f"did you mean {near}? Else: {_HINT}" if near else _HINT
            said = f"{name} in {container.image} has no option {option}"
            yield Finding(run.head.name, "flags", StageStatus.FAILED, said, hint)
        if not unknown:
            yield Finding(run.head.name, "flags", StageStatus.OK, f"{len(options)} options of {name}")
