"""Whether a cell's measurements count at all. Performance is judged only after every rule here holds.

Each rule is one small function over the same facts and says what is wrong, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from atomcfg.plan import Cell

from .artifacts import ArtifactError
from .results import Reading

__all__ = ["RULES", "Evidence", "Flaw", "check", "unreadable"]

# Re-encoding a random prompt, and a server that counts its own special tokens, move the mean a little.
_LENGTH_SLACK = 0.02
_LENGTH_SLACK_TOKENS = 4


@frozen
class Evidence:
    """What the rules look at. `began` is the time at which the client was started, by the clock and in the
    form that the artifact uses (`%Y%m%d-%H%M%S`, the container's local time); "" if it is not known. `model` is the
    plan's; "" if it does not matter."""

    cell: Cell
    reading: Reading
    values: Mapping[str, float]
    client_exit: int
    began: str = ""
    model: str = ""

    def value(self, name: str) -> float | None:
        return self.values.get(name)

    def echoed(self, name: str) -> float | None:
        """A number that the client repeats from its request; None when it does not, or not as a number."""
        try:
            return float(self.reading.echo[name])
        except (KeyError, ValueError):
            return None


@frozen
class Flaw:
    """Why a cell is invalid, and the next thing to try."""

    rule: str
    reason: str
    hint: str


def check(evidence: Evidence) -> tuple[Flaw, ...]:
    """Every rule that does not hold, most telling first; empty for a valid cell."""
    found = (rule(evidence) for rule in RULES)
    return tuple(flaw for flaw in found if flaw is not None)


def unreadable(error: ArtifactError, client_exit: int) -> tuple[Flaw, ...]:
    """The flaws of a cell whose artifact could not be parsed; the client's exit status comes first."""
    exited = _exit_flaw(client_exit)
    broken = Flaw(f"artifact_{error.kind}", error.message, error.hint)
    return (broken,) if exited is None else (exited, broken)


def _exit_flaw(code: int) -> Flaw | None:
    if code == 0:
        return None
    what = f"signal {code - 128}, cause unknown" if code > 128 else f"status {code}"
    return Flaw("client_exit", f"the client ended with {what}", "read the client's log for the first error")


def _client_exit(evidence: Evidence) -> Flaw | None:
    return _exit_flaw(evidence.client_exit)


def _this_attempt(evidence: Evidence) -> Flaw | None:
    written = evidence.reading.echo.get("date", "")
    if not written or not evidence.began or written >= evidence.began:
        return None
    return Flaw(
        "this_attempt",
        f"the artifact is of {written}, before this attempt began ({evidence.began})",
        "a file of an earlier run was collected: the client wrote none of its own",
    )


def _same_request(evidence: Evidence) -> Flaw | None:
    """The record is of this cell: what it repeats of the request is what the plan asked for."""
    cell = evidence.cell
    asked = [("num_prompts", "prompts", cell.num_prompts)]
    if evidence.reading.echo.get("dataset", "").startswith("random"):
        asked += [("input_len", "input tokens", cell.isl), ("output_len", "output tokens", cell.osl)]
    for name, noun, planned in asked:
        echoed = evidence.echoed(name)
        if echoed is not None and echoed != planned:
            return Flaw(
                "same_request",
                f"the artifact is of {echoed:g} {noun}, the plan asks for {planned}",
                "the record belongs to another cell, or the client was not given the plan's argv",
            )
    return None


def _same_model(evidence: Evidence) -> Flaw | None:
    """A model is named by its repository or by a path that ends like it: where it lies is the node's affair."""
    echoed, planned = (
        name.rstrip("/").rpartition("/")[2] for name in (evidence.reading.echo.get("model_id", ""), evidence.model)
    )
    if not echoed or not planned or echoed == planned:
        return None
    return Flaw(
        "same_model",
        f"the artifact is of model {evidence.reading.echo['model_id']}, the plan's is {evidence.model}",
        "the record belongs to another run, or the client was not given the plan's argv",
    )


def _concurrency(evidence: Evidence) -> Flaw | None:
    actual = evidence.value("max_concurrency")
    if actual == evidence.cell.concurrency:
        return None
    stated = "no limit" if actual is None else f"{actual:g}"
    return Flaw(
        "concurrency",
        f"the artifact states concurrency {stated}, the plan {evidence.cell.concurrency}",
        "the record belongs to another cell, or the client was not given the plan's argv",
    )


def _accounted(evidence: Evidence) -> Flaw | None:
    completed, failed = evidence.value("completed"), evidence.value("failed")
    planned = evidence.cell.num_prompts
    if completed is not None and failed is not None and completed + failed == planned:
        return None
    counts = " + ".join(
        f"{'an unknown number' if count is None else format(count, 'g')} {noun}"
        for count, noun in ((completed, "completed"), (failed, "failed"))
    )
    return Flaw(
        "accounted",
        f"{counts} are not the {planned} prompts of the plan",
        "requests were lost: read the client's log and the server's",
    )


def _failures(evidence: Evidence) -> Flaw | None:
    failed, allowed = evidence.value("failed"), evidence.cell.allowed_failures
    if failed is not None and failed <= allowed:
        return None
    count = "an unknown number of" if failed is None else f"{failed:g}"
    return Flaw(
        "failures",
        f"{count} requests failed of {evidence.cell.num_prompts}; {allowed} may (bench_max_failed_requests)",
        "the client's log names the commonest errors, the server's log their cause",
    )


def _worked(evidence: Evidence) -> Flaw | None:
    """Time passed and tokens flowed."""
    nouns = {"duration": "duration", "total_input_tokens": "input tokens", "total_output_tokens": "output tokens"}
    idle = [noun for name, noun in nouns.items() if not (evidence.value(name) or 0.0) > 0.0]
    if not idle:
        return None
    return Flaw(
        "worked",
        f"nothing measured: {', '.join(idle)} not above 0",
        "the server answered without tokens or without usage: read its log",
    )


def _input_length(evidence: Evidence) -> Flaw | None:
    completed, tokens = evidence.value("completed"), evidence.value("total_input_tokens")
    if not completed or tokens is None:
        return None  # `accounted` and `worked` report these
    low, high = evidence.cell.input_range
    mean = tokens / completed
    slack_low, slack_high = (_LENGTH_SLACK * bound + _LENGTH_SLACK_TOKENS for bound in (low, high))
    if low - slack_low <= mean <= high + slack_high:
        return None
    return Flaw(
        "input_length",
        f"requests had {mean:.1f} input tokens on average, the plan asks for {low} to {high}",
        "the tokenizer or the range ratio is not what the plan states",
    )


RULES: tuple[Callable[[Evidence], Flaw | None], ...] = (
    _client_exit,
    _this_attempt,
    _same_request,
    _same_model,
    _concurrency,
    _accounted,
    _failures,
    _worked,
    _input_length,
)
