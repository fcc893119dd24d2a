"""A progress bar on standard error that looks like tqdm's."""

from __future__ import annotations

import sys
import time

__all__ = ["Progress"]

_REDRAW_S = 0.1
_WIDTH = 10


class Progress:
    """Counts to `total`; silent where it is switched off."""

    def __init__(self, total: int, shown: bool) -> None:
        self._total, self._shown = total, shown
        self._done, self._started, self._drawn = 0, time.perf_counter(), 0.0
        self._draw()

    def step(self) -> None:
        """One more."""
        self._done += 1
        if self._done == self._total or time.perf_counter() - self._drawn > _REDRAW_S:
            self._draw()

    def close(self) -> None:
        """End the line."""
        if self._shown:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _draw(self) -> None:
        self._drawn = time.perf_counter()
        if not self._shown:
            return
        passed = self._drawn - self._started
        rate = self._done / passed if passed and self._done else 0.0
        left = _clock((self._total - self._done) / rate) if rate else "?"
        part = self._done / self._total if self._total else 1.0
        bar = ("█" * round(part * _WIDTH)).ljust(_WIDTH)
        speed = f"{rate:.2f}" if rate else "?"
        sys.stderr.write(f"\r{part:4.0%}|{bar}| {self._done}/{self._total} [{_clock(passed)}<{left}, {speed}it/s]")
        sys.stderr.flush()


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"
