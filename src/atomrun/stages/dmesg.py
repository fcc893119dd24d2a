"""The kernel log since launch, on every node. Without our own mark in it, it is "not scanned", never clean."""

from __future__ import annotations

from atomrun.containers import last_line
from atomrun.context import RunContext
from atomrun.host import Completed, HostError
from atomrun.kernel import after_marker, classify, marker
from atomrun.outcomes import add_block, done, skipped
from atomrun.results import BlockResult, StageResult
from atomrun.scripts import run_on_host

__all__ = ["dmesg"]

_READ_S = 60.0


def dmesg(run: RunContext) -> StageResult:
    """Errors fail the check; warnings make performance suspect, and are said."""
    if not run.plan.checks.dmesg_scan:
        return skipped("dmesg", "not asked for")
    if run.transport == "rehearsal":
        add_block(run, _block("rehearsal", "skipped", "a rehearsal leaves this machine's kernel log alone"))
        return done("dmesg")
    nodes = [node for node in run.nodes if node.place is not None]
    answers = run.ask(lambda node: run_on_host(node, "kernel_log", [], _READ_S), nodes, ending=True)
    for node in nodes:
        add_block(run, _judge(run, node.name, answers.values.get(node.rank), answers.failures.get(node.rank)))
    return done("dmesg")


def _judge(run: RunContext, name: str, read: Completed | None, error: HostError | None) -> BlockResult:
    if read is None or read.code != 0:
        why = error.message if error is not None else last_line(read) if read is not None else ""
        return _block(name, "not_scanned", f"the kernel log cannot be read: {why}")
    lines = after_marker(read.out.decode("utf-8", "replace"), marker(run.run_id))
    if lines is None:
        return _block(
            name, "not_scanned", "our mark is not in the kernel log: it may not be written, or was overwritten"
        )
    found = classify(lines)
    details = tuple(f"{item.severity} {item.category} x{item.count}: {item.first}" for item in found)
    errors = [f"{item.category} x{item.count}" for item in found if item.severity == "error"]
    warnings = [f"{item.category} x{item.count}" for item in found if item.severity == "warning"]
    if warnings:
        run.warn(f"kernel log of {name}: {', '.join(warnings)}: performance is suspect")
    return _block(name, "failed" if errors else "ok", ", ".join(errors), details)


def _block(name: str, status: str, reason: str, details: tuple[str, ...] = ()) -> BlockResult:
    return BlockResult("dmesg", name, status, reason, 0.0, {}, details, ())
