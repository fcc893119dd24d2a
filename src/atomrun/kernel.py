"""The kernel log between our marker and now, classified. Pure.

Only what concerns GPUs, their network, memory, and processes killed counts. Sources: amdgpu's messages (RAS events
are logged at level info), the kernel's own, and the categories that CVS and node-scraper use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

__all__ = ["KernelFinding", "after_marker", "classify", "marker"]


@frozen
class KernelFinding:
    """Lines of one kind. `severity`: error, or warning (performance is suspect)."""

    category: str
    severity: str
    count: int
    first: str


_ERROR, _WARNING = "error", "warning"
_NIC = r"(?:mlx5|bnxt_(?:en|re)|ionic|irdma)\S*"
_RULES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (category, severity, re.compile(pattern, re.IGNORECASE))
    for category, severity, pattern in (
        ("ecc_corrected", _WARNING, r"(?<!un)correctable hardware errors? detected"),
        ("ecc_corrected", _WARNING, r"\[Hardware Error\]:.*(?<!un)corrected"),
        ("ecc_corrected", _WARNING, r"AER: Corrected error"),
        ("gpu_reset", _ERROR, r"GPU reset begin|GPU reset(?:\(\d+\))? failed|Mode ?2 reset failed"),
        ("gpu_hang", _ERROR, r"GPU hang|cp might be in an unrecoverable state"),
        ("gpu_hang", _ERROR, r"MES (?:failed to respond|might be in)|amdgpu.*ring \S+ timeout"),
        ("gpu_hang", _ERROR, r"fence wait loop timeout"),
        ("gpu_page_fault", _ERROR, r"amdgpu.*\bpage fault\b|VM_L2_PROTECTION_FAULT_STATUS|IO_PAGE_FAULT"),
        ("gpu_hardware", _ERROR, r"uncorrectable hardware error|Accelerator Check Architecture"),
        ("gpu_hardware", _ERROR, r"amdgpu: Fatal error"),
        ("gpu_hardware", _ERROR, r"amdgpu.*(?:Saved bad pages|deferred hardware errors detected|RAS poison)"),
        ("gpu_driver", _ERROR, r"Failed to evict process queues|Queue preemption failed|No more SDMA queue"),
        ("gpu_driver", _ERROR, r"amdgpu.*(?:\*ERROR\*|Fatal error during GPU init)"),
        ("gpu_link", _ERROR, r"XGMI.*(?:error|PCS .* detected)|pcieport .*(?:Link Down|Card not present)"),
        ("gpu_link", _ERROR, r"AER:.*(?:Uncorrected|uncorrectable|Fatal)|aer_uncor_status: 0x0*[1-9a-f]"),
        ("gpu_throttled", _WARNING, r"GPU is throttled|Runlist is getting oversubscribed|reduced ROCm performance"),
        ("network", _ERROR, rf"{_NIC} .*(?:link (?:is )?down|CQ error|queue catastrophic)"),
        ("network", _WARNING, rf"{_NIC} .*(?:timeout|hung|reset)"),
        ("memory", _ERROR, r"Out of memory: Kill|oom[-_]kill|Memory cgroup out of memory"),
        ("hung_task", _ERROR, r"blocked for more than \d+ seconds|rcu.*detected stalls?|soft lockup"),
        ("kernel", _ERROR, r"kernel panic|general protection fault|BUG: (?:unable|soft)|page fault for address"),
        ("hardware", _ERROR, r"\[Hardware Error\]:.*(?:fatal|uncorrected|\|UC\|)"),
        ("crash", _WARNING, r"\bsegfault at "),
    )
)  # fmt: skip
_NOISE = re.compile(r'apparmor="|audit: type=')


def marker(run_id: str) -> str:
    """The line by which a run finds its own part of the log again."""
    return f"atomrun: begin {run_id}"


def after_marker(log: str, mark: str) -> tuple[str, ...] | None:
    """The lines after our marker; None if it is not there: the log could not be read, or has wrapped around."""
    lines = log.splitlines()
    places = [number for number, line in enumerate(lines) if mark in line]
    return tuple(lines[places[0] + 1 :]) if places else None


def classify(lines: Iterable[str]) -> tuple[KernelFinding, ...]:
    """What the lines tell, errors first, each kind once with its count and its first line."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if _NOISE.search(line):
            continue
        for category, severity, pattern in _RULES:
            if pattern.search(line):
                found.setdefault((category, severity), []).append(line.strip())
                break
    findings = [
        KernelFinding(category, severity, len(hits), hits[0]) for (category, severity), hits in found.items()
    ]
    return tuple(sorted(findings, key=lambda finding: (finding.severity != _ERROR, finding.category)))
