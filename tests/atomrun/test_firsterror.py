"""The first error of a log: causes are found, what only sounds bad is passed over."""

from __future__ import annotations

import pytest

from atomrun.firsterror import first_error, tail

FATAL = (
    "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 256.00 MiB.",
    "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
    "ValueError: Free memory on device (3.27/15.98 GiB) on startup is less than desired",
    "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use",
    "OSError: [Errno 98] Address already in use",
    "zmq.error.ZMQError: Address already in use (addr='tcp://127.0.0.1:8006')",
    "Memory access fault by GPU node-3 (Agent handle: 0x13e852f0) on address 0x77d445e00000. Reason: Unknown.",
    "HW Exception by GPU node-1 (Agent handle: 0x563e71f098b0) reason :GPU Hang",
    "(EngineCore pid=500) Exception: WorkerProc initialization failed",
    "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.",
    "Fatal Python error: Aborted",
    "openai_server.py: error: unrecognized arguments: --bogus",
    "Segmentation fault (core dumped)",
    "Killed",
    "sh: 1: lm_eval: not found",
    "/usr/bin/python3: No module named vllm",
    "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
    "[atom 06:50:01] Model Runner: [ModelRunner3] proc died unexpectedly (exitcode=-6)",
)
HARMLESS = (
    "INFO:     Application startup complete.",
    "No such file or directory, falling back to default",
    "0 errors, 0 failed",
    "INFO retry after error",
    "WARNING: NCCL ERROR ignored",
    "max_total_tokens=131072 is larger than the profiled value -561981. Use the profiled value instead.",
    "Failed requests:                         0",
    "",
)


@pytest.mark.parametrize("line", FATAL)
def test_a_cause_is_found_among_harmless_lines(line: str) -> None:
    assert first_error("\n".join((*HARMLESS, f"  {line}", *HARMLESS))) == line


def test_harmless_lines_have_no_cause() -> None:
    assert first_error("\n".join(HARMLESS)) == ""


def test_the_first_cause_counts_before_any_consequence() -> None:
    wrapped = "RuntimeError: Engine core initialization failed. See root cause above."
    assert first_error(f"{wrapped}\n{FATAL[0]}\n{FATAL[1]}") == FATAL[0]
    assert first_error(wrapped) == wrapped, "better than nothing"


def test_what_a_progress_bar_redraws_is_one_line() -> None:
    assert first_error("\r 45%|xx\rValueError: bad\r 46%") == "ValueError: bad"
    assert tail("a\r 1%\r 2%\nb\r\nc\n", 2) == "b\nc"
    assert tail("a\r 1%\r 2%\n") == " 2%"
    assert tail("".join(f"{number}\n" for number in range(200))).splitlines()[0] == "100"
