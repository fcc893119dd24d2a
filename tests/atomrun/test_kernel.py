"""Kernel log lines: what concerns the run is classified, what only looks bad is not."""

from __future__ import annotations

import pytest

from atomrun.kernel import after_marker, classify, marker

ERRORS = {
    "amdgpu 0000:e3:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!": "gpu_hardware",
    "amdgpu 0000:9e:00.0: {1}[Hardware Error]: Accelerator Check Architecture events logged": "gpu_hardware",
    "amdgpu 0000:05:00.0: amdgpu: Saved bad pages 4 reaches threshold value 256": "gpu_hardware",
    "amdgpu 0000:c5:00.0: amdgpu: GPU reset begin!. Source:  3": "gpu_reset",
    "amdgpu: The cp might be in an unrecoverable state due to an unsuccessful queues preemption": "gpu_hang",
    "amdgpu 0000:c5:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE": "gpu_hang",
    "amdgpu 0000:c5:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1": "gpu_hang",
    "amdgpu 0000:c5:00.0: amdgpu: Failed to evict process queues": "gpu_driver",
    "amdgpu 0000:c3:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32810)": "gpu_page_fault",
    "amdgpu 0000:3d:00.0: amdgpu: [mmhub0] retry page fault (src_id:0 ring:0)": "gpu_page_fault",
    "AMD-Vi: Event logged [IO_PAGE_FAULT device=00:14.0 domain=0x0000]": "gpu_page_fault",
    "pcieport 0000:00:01.1: pciehp: Slot(0): Link Down": "gpu_link",
    "mlx5_core 0000:0c:00.0 ens1: Link down": "network",
    "Out of memory: Killed process 4242 (python3) total-vm:1kB": "memory",
    "INFO: task python3:99 blocked for more than 120 seconds.": "hung_task",
    "BUG: unable to handle page fault for address: ffff": "kernel",
}
WARNINGS = {
    "amdgpu 0000:c1:00.0: socket: 4, die: 0 1 correctable hardware errors detected in total": "ecc_corrected",
    "{359}[Hardware Error]: It has been corrected by h/w and requires no further action": "ecc_corrected",
    "pcieport 0000:20:03.1: AER: Corrected error message received from 0000:2d:00.0": "ecc_corrected",
    "amdgpu: Runlist is getting oversubscribed due to too many queues.": "gpu_throttled",
    "amdgpu 0000:05:00.0: amdgpu: WARN: GPU is throttled, expect performance decrease.": "gpu_throttled",
    "python3[3141]: segfault at 0 ip 0000000000000000 sp 00007ffd error 14": "crash",
}
HARMLESS = (
    "iommu: Default domain type: Translated",
    "PCI: CLS 0 bytes, default 64",
    "RAS: Correctable Errors collector initialized.",
    "amdgpu 0000:e3:00.0: amdgpu: SRAM ECC is active.",
    "[drm] amdgpu kernel modesetting enabled",
    'audit: type=1400 audit(1.2:9): apparmor="DENIED" operation="open" name="/proc/1/Out of memory: Kill"',
    "systemd[1]: Inserted module 'ib_uverbs'",
    "mlx5_core 0000:0c:00.0: MLX5E: StrdRq(1) RqSz(8) StrdSz(2048) RxCqeCmprss(0 enhanced)",
    "igb 0000:22:00.1 eno2: Link is down",
    "thermal thermal_zone0: critical temperature trip: 115000",
    "usb 1-1: device descriptor read, fault handled",
)


@pytest.mark.parametrize("line", ERRORS)
def test_an_error_is_found(line: str) -> None:
    (found,) = classify([f"[ 8390.785329] {line}"])
    assert (found.category, found.severity, found.count) == (ERRORS[line], "error", 1)


@pytest.mark.parametrize("line", WARNINGS)
def test_a_warning_is_found(line: str) -> None:
    (found,) = classify([f"[Tue Sep  9 02:30:28 2025] {line}"])
    assert (found.category, found.severity) == (WARNINGS[line], "warning")


@pytest.mark.parametrize("line", HARMLESS)
def test_what_only_looks_bad_is_not(line: str) -> None:
    assert classify([f"kern  :err   : 2026-01-07T10:00:10,567890-06:00 {line}"]) == ()


def test_each_kind_once_errors_first() -> None:
    found = classify([*WARNINGS, *ERRORS, *ERRORS])
    assert [(item.category, item.severity) for item in found][:2] == [
        ("gpu_driver", "error"),
        ("gpu_hang", "error"),
    ]
    assert found[-1].severity == "warning"
    assert next(item.count for item in found if item.category == "memory") == 2


def test_only_what_came_after_our_mark_counts() -> None:
    mark = marker("run-1")
    log = f"old\n[ 1.0] {mark}\nnew\n[ 2.0] {mark}\nnewer"
    assert after_marker(log, mark) == ("new", f"[ 2.0] {mark}", "newer")
    assert after_marker(log, marker("run-2")) is None
    assert after_marker("", mark) is None
