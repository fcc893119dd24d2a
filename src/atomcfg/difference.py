"""What changed in meaning between two plans: cells, commands, environment, gates, image, nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from attrs import asdict, frozen

from .plan import Cell, EnvVar, Plan, RankLaunch, Session, Spec
from .tokens import Token, fill

__all__ = ["Change", "differences"]

_FACTS = (
    "profile", "driver", "gpu_arch", "enforce_thresholds", "orchestrator", "scaling_baseline",
)  # fmt: skip
_PARTS = ("model", "topology", "paths", "fabric")
_CELL_FACTS = (
    "key", "num_prompts", "input_range", "output_range", "seed", "allowed_failures", "deadline_s",
)  # fmt: skip


@frozen
class Change:
    """One difference. `before` or `after` is None where the thing is only in the other plan."""

    group: str  # plan | nodes | container | server | cells | gates | checks
    subject: str  # a cell id, a rank, a node
    what: str  # a flag, a variable, a field
    before: str | None
    after: str | None


def differences(before: Plan, after: Plan) -> tuple[Change, ...]:
    """Every change of what executes or judges; none between two plans of one digest."""
    return (
        *_facts(before, after),
        *_table("nodes", _nodes(before), _nodes(after)),
        *_table("container", _container(before), _container(after)),
        *_servers(before, after),
        *_cells(before, after),
        *_table("checks", _checks(before), _checks(after)),
    )


def _facts(before: Plan, after: Plan) -> Iterator[Change]:
    yield from _fields("plan", "", {name: getattr(before, name) for name in _FACTS}, after)
    for part in _PARTS:
        yield from _mapping("plan", part, _flat(getattr(before, part)), _flat(getattr(after, part)))
    yield from _mapping("plan", "secrets", _secrets(before), _secrets(after))


def _secrets(plan: Plan) -> dict[str, str]:
    return {secret.name: secret.file + (" (required)" if secret.required else "") for secret in plan.secrets}


def _fields(group: str, subject: str, known: Mapping[str, object], other: object) -> Iterator[Change]:
    for name, value in known.items():
        now = getattr(other, name)
        if value != now:
            yield Change(group, subject, name, _show(value), _show(now))


def _mapping(group: str, subject: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield Change(group, subject, name, before.get(name), after.get(name))


def _table(
    group: str, before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]
) -> Iterator[Change]:
    for subject in dict.fromkeys((*before, *after)):
        if subject not in after:
            yield Change(group, subject, "", "present", None)
        elif subject not in before:
            yield Change(group, subject, "", None, "present")
        else:
            yield from _mapping(group, subject, before[subject], after[subject])


def _flat(value: object) -> dict[str, str]:
    if value is None:
        return {}
    fields = asdict(value, recurse=False)  # type: ignore[arg-type]  # the parts of a plan are attrs classes
    return {name: _show(item) for name, item in fields.items()}


def _show(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, tuple) and all(isinstance(item, int | float | str) for item in value):
        return " to ".join(map(str, value)) if len(value) == 2 else " ".join(map(str, value))
    return _text(value)


def _text(token: object) -> str:
    """A token or a structure of them, as a person reads it."""
    if isinstance(token, tuple):
        return ", ".join(_text(item) for item in token)
    if hasattr(token, "parts"):
        return fill(token, unknown=lambda name: f"<{name}>")  # type: ignore[arg-type]  # it is a Template
    return str(token)


def _nodes(plan: Plan) -> dict[str, dict[str, str]]:
    return {f"rank {node.rank}": _flat(node) for node in plan.nodes}


def _container(plan: Plan) -> dict[str, dict[str, str]]:
    if plan.container is None:
        return {}
    flat = {name: text for name, text in _flat(plan.container).items() if name not in ("run_argv", "mounts")}
    return {"container": {**flat, **_argv("run", plan.container.run_argv)}}


def _servers(before: Plan, after: Plan) -> Iterator[Change]:
    """The servers of the first session of each plan; then how the cells are spread over sessions."""
    old, new = _launches(before.sessions), _launches(after.sessions)
    yield from _table("server", old, new)
    if len(before.sessions) != len(after.sessions):
        yield Change("server", "", "starts", str(len(before.sessions)), str(len(after.sessions)))
    deadlines = [_show(plan.sessions[0].ready_deadline_s) for plan in (before, after)]
    if deadlines[0] != deadlines[1]:
        yield Change("server", "", "ready deadline", *deadlines)


def _launches(sessions: Iterable[Session]) -> dict[str, dict[str, str]]:
    launches: dict[str, RankLaunch] = {}
    for session in sessions:
        for launch in session.ranks:
            launches.setdefault(f"rank {launch.rank}", launch)
    return {name: {**_argv("argv", launch.argv), **_env(launch.env)} for name, launch in launches.items()}


def _argv(label: str, argv: Iterable[Token]) -> dict[str, str]:
    """An argv by flag: `{"--port": "8000"}`; repeats are joined, leading words stand under the label."""
    found: dict[str, list[str]] = {label: []}
    name = label
    for token in argv:
        word = fill(token, unknown=lambda hole: f"<{hole}>")
        if word.startswith("-") and len(word) > 1:
            name = word
            found.setdefault(name, [])
        else:
            found[name].append(word)
    return {flag: " ".join(words) for flag, words in found.items()}


def _env(env: Iterable[EnvVar]) -> dict[str, str]:
    return {
        f"${entry.name}": f"secret {entry.secret}" if entry.value is None else _text(entry.value) for entry in env
    }


def _cells(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = ({cell.id: cell for cell in plan.cells} for plan in (before, after))
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            yield Change("cells", name, "", old[name].key, None)
        elif name not in old:
            yield Change("cells", name, "", None, new[name].key)
        else:
            yield from _cell(old[name], new[name])
    order = [[name for name in mine if name in other] for mine, other in ((old, new), (new, old))]
    if order[0] != order[1]:
        yield Change("cells", "", "order", " ".join(order[0]), " ".join(order[1]))


def _cell(before: Cell, after: Cell) -> Iterator[Change]:
    yield from _fields("cells", before.id, {name: getattr(before, name) for name in _CELL_FACTS}, after)
    old, new = ({**_argv("argv", cell.argv), **_env(cell.env)} for cell in (before, after))
    yield from _mapping("cells", before.id, old, new)
    yield from _mapping("gates", before.id, _gates(before.specs), _gates(after.specs))


def _gates(specs: Iterable[Spec]) -> dict[str, str]:
    return {spec.metric: _gate(spec) for spec in specs}


def _gate(spec: Spec) -> str:
    words = [spec.kind, *([f"{spec.value:g}"] if spec.value is not None else [])]
    if spec.tolerance_pct is not None:
        words.append(f"+-{spec.tolerance_pct:g}%")
    if spec.reference is not None:
        words.append(f"of {spec.reference}")
    return " ".join([*words, *(["enforced"] if spec.enforced else [])])


def _checks(plan: Plan) -> dict[str, dict[str, str]]:
    checks = plan.checks
    switches = ("api_smoke", "health_check", "dmesg_scan", "gpu_metrics_poll")
    found = {"switches": {name: _show(getattr(checks, name)) for name in switches}}
    for task in checks.accuracy:
        found[f"accuracy {task.id}"] = {**_argv("argv", task.argv), **_gates(task.specs)}
    for cell in checks.long_context:
        sizes = {name: _show(getattr(cell, name)) for name in ("isl", "osl", "num_prompts", "seed")}
        found[f"needle {cell.id}"] = {**sizes, **_gates(cell.specs)}
    if checks.mtp_quality is not None:
        mtp = checks.mtp_quality
        found["MTP quality"] = {"prompt": mtp.prompt, "sha256": mtp.expected_sha256, **_gates(mtp.specs)}
    if checks.quant_parity is not None:
        quant = checks.quant_parity
        found["quant parity"] = {"prompt": quant.prompt, "reference": quant.reference_stem, **_gates(quant.specs)}
    return found
