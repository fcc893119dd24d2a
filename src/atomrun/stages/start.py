"""Starts a session's server on every rank, after a last look whether its ports are free."""

from __future__ import annotations

from atomcfg.plan import Session
from atomcfg.tokens import Token, fill, fill_all
from atomrun.asking import look_around
from atomrun.context import NodeRun, RunContext
from atomrun.host import HostError
from atomrun.jobs import Task, environment, job
from atomrun.outcomes import done, failed
from atomrun.poll import start_poll
from atomrun.results import StageResult

__all__ = ["start"]

_SLACK_S = 3600
_NEEDLE_S = 900


def start(run: RunContext) -> StageResult:
    """All ranks at once. From here on every rank is watched."""
    session = run.the_session
    taken = "" if session.adopted else _taken_ports(run, session.session)
    if taken:
        session.dead = taken
        return failed("start", taken, "stop it, or choose another port", node=run.head.name)
    deadline = _deadline_s(run, session.session)
    start_poll(run, deadline)
    session.started = True
    run.journal.begin("server", name=session.job)
    answers = run.ask(lambda node: node.host.start(job(node.inside, run.run_id, _task(run, node, deadline))))
    for error in answers.failures.values():
        session.dead = f"the server of {error.node} could not be started: {error.message}"
        raise error
    for node in run.nodes:
        session.watch.follow(node.host, [session.job], deadline)
    return done("start", f"{len(run.nodes)} ranks")


def _taken_ports(run: RunContext, session: Session) -> str:
    """Who holds a port that the head needs, "" for nobody."""
    tokens: list[Token] = [session.probe.port]
    if run.plan.fabric is not None:
        tokens.append(run.plan.fabric.master_port)
    ports = [int(fill(token, run.bound(run.head))) for token in tokens]
    held = look_around(run.head, "free", {"ports": ports})
    for port, holders in held.items():
        who = "; ".join(f"pid {pid} ({command})" for pid, command in holders.items())
        return f"port {port} is in use by {who or 'a process not visible from here'}"
    return ""


def _task(run: RunContext, node: NodeRun, deadline_s: int) -> Task:
    launch = run.the_session.session.ranks[node.rank]
    if launch.rank != node.rank:
        raise HostError(node.name, "protocol", f"the plan's rank {launch.rank} is at place {node.rank}")
    values = run.bound(node)
    env, secrets = environment(launch.env, values, run.secrets)
    return Task(run.the_session.job, fill_all(launch.argv, values), deadline_s, env, secrets)


def _deadline_s(run: RunContext, session: Session) -> int:
    """What the session can take at most by its budgets; the node ends the server then, whoever else is gone."""
    cells = {cell.id: cell.deadline_s for cell in run.plan.cells}
    total = session.ready_deadline_s + sum(cells[cell] for cell in session.cells) + _SLACK_S
    checks = run.plan.checks
    if checks.session == session.index:
        total += sum(task.deadline_s for task in checks.accuracy)
        total += sum(_NEEDLE_S * needle.num_prompts for needle in checks.long_context)
    return total
