"""What the server tells of its prefix cache, cell by cell."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from atomrun.host import Completed, HostError
from atomrun.run import execute

from .runs import Fleet, LiveHost, answer, container_plan, healthy_host, probe

FleetOf = Callable[..., Fleet]


def telling(*readings: tuple[float, float] | None) -> LiveHost:
    """A node whose server says these, the last for ever."""
    host, said = healthy_host(cells=2), iter(readings)

    def read(_argv: tuple[str, ...], _stdin: bytes) -> Completed:
        queries, hits = next(said, readings[-1]) or (None, None)
        return Completed(0, answer({"queries": queries, "hits": hits}))

    host.on(*probe("cache"), then=read)
    return host


def noted(fleet: Fleet) -> dict[str, str]:
    facts = execute(fleet.run).facts
    return {name.split()[-1]: text for name, text in facts.items() if name.startswith("prefix cache")}


def test_each_cell_has_its_own_share(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(cells=2), telling((1000, 10), (11_000, 10), (21_000, 9_010)))
    assert noted(fleet) == {"c0": "0.0% of 10,000 prompt tokens", "c1": "90.0% of 10,000 prompt tokens"}
    (warning,) = [text for text in fleet.run.record.warnings if "prefix cache" in text]
    assert warning == "c1: 90% of its prompt tokens came from the prefix cache, which flatters its figures"


@pytest.mark.parametrize("readings", [(None,), ((5.0, 0.0), None), ((5.0, 0.0),)])
def test_a_server_that_does_not_tell_has_no_share(
    fleet_of: FleetOf, readings: tuple[tuple[float, float] | None, ...]
) -> None:
    assert noted(fleet_of(container_plan(cells=2), telling(*readings))) == {}


def test_no_cell_fails_for_it(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=2)
    host.on(*probe("cache"), then=HostError("n0", "timeout", "no answer"))
    fleet = fleet_of(container_plan(cells=2), host)
    assert noted(fleet) == {}
    assert [cell.state.value for cell in fleet.run.record.cells] == ["valid", "valid"]
