from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def bundle_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The charts' bundle takes seconds to make: it is kept from one test run to the next, away from the user's."""
    cache = request.config.cache
    assert cache is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.mkdir("bundles")))
