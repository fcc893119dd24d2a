"""The benchmark clients' own files, by version, and what is read out of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg import metrics
from atomrun.artifacts import FORMATS, ArtifactError, Fault, parse
from atomrun.results import Reading

DATA = Path(__file__).resolve().parent.parent.parent / "data"
FILES = [(form, path) for form in FORMATS for path in sorted((DATA / "clients" / form).iterdir())]
STATISTICS = ("mean", "median", "std", "p90", "p95", "p99")


def read(form: str, name: str) -> Reading:
    return parse(form, (DATA / "clients" / form / name).read_text())


def healthy(form: str) -> dict[str, Any]:
    suffix = "jsonl" if form == "sglang" else "json"
    record = json.loads((DATA / "artifacts" / form / f"healthy.{suffix}").read_text())
    assert isinstance(record, dict)
    return record


@pytest.mark.parametrize(("form", "path"), FILES, ids=[f"{form}-{path.name}" for form, path in FILES])
def test_every_version_is_read(form: str, path: Path) -> None:
    reading = parse(form, path.read_text())
    assert reading.format == form
    for name in ("duration", "completed", "total_token_throughput", "output_throughput", "total_input_tokens"):
        assert name in reading.values
    assert all(metrics.find(name) for name in (*reading.values, *reading.missing))
    assert reading.values.keys().isdisjoint(reading.missing)
    assert all(json.loads(text, parse_constant=pytest.fail) is not Ellipsis for text in reading.extra.values())


def test_atom() -> None:
    reading = read("atom", "all_metrics.json")
    assert reading.values["total_token_throughput"] == pytest.approx(
        (reading.values["total_input_tokens"] + reading.values["total_output_tokens"]) / reading.values["duration"]
    )
    latencies = {f"{statistic}_{name}_ms" for statistic in STATISTICS for name in ("ttft", "tpot", "itl", "e2el")}
    assert latencies <= reading.values.keys()
    assert "failed" not in reading.values
    assert reading.echo["num_prompts"] == "12"
    assert reading.echo["request_rate"] == "inf"
    assert reading.extra["tokenizer_id"] == '"deepseek-ai/DeepSeek-R1-0528"'


def test_atom_goodput_key_ends_with_a_colon() -> None:
    assert read("atom", "goodput.json").values["goodput"] == 20.224582392033074
    assert read("atom", "default.json").missing["goodput"] == "null in the artifact"


def test_atom_speculation() -> None:
    values = read("atom", "mtp.json").values
    assert values["mtp.acceptance_rate"] == pytest.approx(0.68033, rel=1e-4)
    assert values["mtp.speculative_tokens_avg"] == 3.041


def test_zero_is_no_latency() -> None:
    """The clients write 0.0 for the statistics of nothing: it would pass every upper bound."""
    reading = read("atom", "all_failed.json")
    assert reading.values["completed"] == 0
    assert reading.values["std_ttft_ms"] == 0
    assert not [name for name in reading.values if name.startswith(("mean_", "median_", "p9"))]
    assert reading.missing["p99_e2el_ms"] == "0 in the artifact: the client measured none"


def test_vllm_counts_failures_since_0_11() -> None:
    assert "failed" not in read("vllm", "v0.10.2.json").values
    assert read("vllm", "v0.33.0_some_failed.json").values["failed"] == 3


def test_vllm_acceptance_is_a_percentage() -> None:
    record = healthy("vllm") | {"spec_decode_acceptance_rate": 61.0, "spec_decode_acceptance_length": 2.22}
    values = parse("vllm", json.dumps(record)).values
    assert values["mtp.acceptance_rate"] == pytest.approx(0.61)
    assert values["mtp.speculative_tokens_avg"] == 2.22


def test_vllm_goodput_before_and_after_0_9() -> None:
    assert read("vllm", "v0.33.0_goodput.json").values["goodput"] == 17.69558962866212
    assert parse("vllm", json.dumps(healthy("vllm") | {"request_goodput:": 7.5})).values["goodput"] == 7.5


def test_sglang_names_are_mapped() -> None:
    reading = read("sglang", "v0.5.23.jsonl")
    assert reading.values["p95_e2el_ms"] == 146.77752764995375
    assert reading.values["total_token_throughput"] == 2442.8184716725523
    assert reading.echo == {
        "backend": "vllm",
        "dataset": "random-ids",
        "request_rate": "inf",
        "max_concurrency": "4",
        "input_len": "64",
        "output_len": "24",
        "range_ratio": "1.0",
    }


def test_sglang_total_is_input_plus_output_before_0_5_10() -> None:
    values = read("sglang", "v0.4.6.jsonl").values
    assert values["total_token_throughput"] == 1742.540680809058 + 653.4527553033968
    record = {key: value for key, value in healthy("sglang").items() if key != "total_throughput"}
    assert "total_token_throughput" in parse("sglang", json.dumps(record)).values
    record["input_throughput"] = None
    assert "total_token_throughput" not in parse("sglang", json.dumps(record)).values


def test_sglang_tail_that_was_cut_at_the_source() -> None:
    missing = read("sglang", "partial_0.4.jsonl").missing
    assert missing["p99_itl_ms"] == 'schema changed: no "p99_itl_ms", nothing similar is there'


def test_sglang_two_lines_are_counted() -> None:
    line = json.dumps(healthy("sglang"))
    with pytest.raises(ArtifactError, match="holds 3 records") as caught:
        parse("sglang", f"{line}\n{line}\n{line}\n")
    assert caught.value.kind is Fault.SEVERAL_RECORDS


@pytest.mark.parametrize("form", FORMATS)
def test_each_missing_field_is_named_with_what_is_like_it(form: str) -> None:
    record = healthy(form)
    record["durations"], record["done"] = record.pop("duration"), record.pop("completed")
    with pytest.raises(ArtifactError) as caught:
        parse(form, json.dumps(record))
    assert caught.value.kind is Fault.SCHEMA_CHANGED
    assert 'no "duration", nearest is "durations"' in caught.value.message
    assert 'no "completed", nothing similar is there' in caught.value.message


def test_a_format_that_no_plan_names() -> None:
    with pytest.raises(KeyError):
        parse("tgi", "{}")


@given(
    form=st.sampled_from(sorted(FORMATS)),
    field=st.integers(0, 60),
    value=st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.integers(),
)
def test_readings_hold_nothing_but_finite_numbers(form: str, field: int, value: object) -> None:
    """Whatever stands in one field, what is read is finite and not negative, or the field is named as missing."""
    record = healthy(form)
    record[sorted(record)[field % len(record)]] = value
    reading = parse(form, json.dumps(record))
    assert all(0 <= number < float("inf") for number in reading.values.values())
