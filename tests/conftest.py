"""What all tests share: how hard to search for counterexamples, and an environment that says nothing."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# No deadline: a slow machine is not a fault. Derandomised: a change is judged by the same examples every time.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("full", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

SPEAKING = ("CVS_", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "GITHUB_")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write the texts of tests/atomcfg/bad as they are now")


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer or a CI service exports may decide a profile or a rendering; no test may depend on it."""
    for name in list(os.environ):
        if name.startswith(SPEAKING):
            monkeypatch.delenv(name)
