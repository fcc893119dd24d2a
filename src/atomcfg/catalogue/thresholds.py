"""Codes of thresholds: A801 to A899."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A801",
        "Several threshold files beside the config",
        "Without threshold_json the only *threshold.json beside the config is taken. With "
        "several, choosing one would grade the run by chance.",
        '{"params": {}}',
        '{"threshold_json": "mi325x_atom_model_threshold.json", "params": {}}',
    ),
    Entry(
        "A802",
        "Thresholds are enforced, but there is no file",
        "enforce_thresholds is true (the default outside the serving dialect), and nothing could be judged.",
        '{"enforce_thresholds": true}',
        '{"enforce_thresholds": false}',
    ),
    Entry(
        "A803",
        "The threshold file is not there",
        "threshold_json is a file name relative to the config.",
        '{"threshold_json": "mi325x_atom_modle_threshold.json"}',
        '{"threshold_json": "mi325x_atom_model_threshold.json"}',
    ),
    Entry(
        "A804",
        "The threshold file has no such profile",
        "A threshold file with profiles is read at the config's profile; threshold_profile names another.",
        '{"profiles": {"perf": {"threshold_profile": "fast"}}}',
        '{"profiles": {"perf": {"threshold_profile": "perf"}}}',
    ),
    Entry(
        "A805",
        "The bounds were calibrated elsewhere",
        "_calibration in a threshold file records arch, driver and image. Bounds of other "
        "hardware give a plausible grade that means nothing.",
        '{"_calibration": {"arch": "mi300x"}} for a config of mi355x',
        '{"_calibration": {"arch": "mi355x"}} for a config of mi355x',
    ),
    Entry(
        "A806",
        "Two keys for one cell",
        "Keys are parsed: order, case and spaces do not matter, so both name the same cell.",
        '{"ISL=1,OSL=1,TP=1,PP=1,CONC=1": {}, "isl=1,osl=1,tp=1,pp=1,conc=1": {}}',
        '{"ISL=1,OSL=1,TP=1,PP=1,CONC=1": {}}',
    ),
    Entry(
        "A807",
        "A cell key is not in canonical form",
        "It is understood, but reports and other files write ISL, OSL, TP, PP, CONC in this order, without spaces.",
        '{"CONC=1, ISL=128, OSL=32, TP=8, PP=1": {}}',
        '{"ISL=128,OSL=32,TP=8,PP=1,CONC=1": {}}',
    ),
    Entry(
        "A808",
        "A key for no cell, next to a cell without thresholds",
        "The cell would be recorded only, and the bounds would never be used: most likely one of "
        "the two is mistyped. 1000 for 1024 is the commonest slip.",
        '{"ISL=1000,OSL=1024,TP=8,PP=1,CONC=128": {}}',
        '{"ISL=1024,OSL=1024,TP=8,PP=1,CONC=128": {}}',
    ),
    Entry(
        "A809",
        "Keys for cells of other configs",
        "Shipped threshold files serve several configs; these entries are not used here.",
        '{"ISL=8192,OSL=1024,TP=4,PP=1,CONC=32": {}}',
        "{}",
    ),
    Entry(
        "A810",
        "One metric has two specs",
        "client.NAME is the older spelling of NAME, so both bound the same number.",
        '{"mean_ttft_ms": {"kind": "max_ms", "value": 1}, "client.mean_ttft_ms": {"kind": "max_ms", "value": 2}}',
        '{"mean_ttft_ms": {"kind": "max_ms", "value": 1}}',
    ),
    Entry(
        "A811",
        "There is no such metric",
        "The vocabulary is closed, so a misspelt bound cannot pass unnoticed. Throughput: "
        "total_token_throughput, output_throughput, per_gpu_throughput, output_tput_per_gpu, "
        "request_throughput, goodput. Latency: mean, median, p90, p95, p99 or std, then ttft, "
        "tpot, itl or e2el, then ms. Health: success_rate, failed, completed. Others: "
        "scaling.efficiency_pct, gpu.*, mtp.*, accuracy.*, quant_parity.*, and lm-eval's "
        "task.metric__filter.",
        '{"p99_tftt_ms": {"kind": "max_ms", "value": 1}}',
        '{"p99_ttft_ms": {"kind": "max_ms", "value": 1}}',
    ),
    Entry(
        "A812",
        "Metric names with the older prefix",
        "client.NAME is read as NAME.",
        '{"client.mean_ttft_ms": {"kind": "max_ms", "value": 1}}',
        '{"mean_ttft_ms": {"kind": "max_ms", "value": 1}}',
    ),
    Entry(
        "A813",
        "Bounds that cannot fail",
        "A floor of 0, a ceiling of a million ms, a billion requests, or a ratio that holds by "
        "definition passes whatever the run did. It looks like a gate and is none.",
        '{"mean_ttft_ms": {"kind": "max_ms", "value": 1000000}}',
        '{"mean_ttft_ms": {"kind": "info"}}',
    ),
    Entry(
        "A814",
        "The kind does not fit the metric",
        "max_ms bounds milliseconds, min_tok_s bounds tok/s; a floor under a latency or a ceiling"
        " over a throughput gates the wrong side.",
        '{"mean_ttft_ms": {"kind": "min", "value": 100}}',
        '{"mean_ttft_ms": {"kind": "max_ms", "value": 100}}',
    ),
    Entry(
        "A815",
        "The metric is recorded only",
        "Diagnostics such as duration are shown, never judged.",
        '{"duration": {"kind": "max", "value": 600}}',
        '{"duration": {"kind": "info"}}',
    ),
    Entry(
        "A816",
        "The value cannot be meant",
        "A bound is a finite number, and a rate lies between 0 and 1.",
        '{"success_rate": {"kind": "min", "value": 95}}',
        '{"success_rate": {"kind": "min", "value": 0.95}}',
    ),
    Entry(
        "A817",
        "The reference is no other metric",
        "min_ratio compares a metric with another one of the same cell.",
        '{"p99_itl_ms": {"kind": "min_ratio", "value": 1, "reference": "p99_itl"}}',
        '{"p99_itl_ms": {"kind": "min_ratio", "value": 1, "reference": "mean_itl_ms"}}',
    ),
    Entry(
        "A818",
        "Bounds for a task that is not configured",
        "The threshold file bounds an id that the config does not run.",
        '{"accuracy": {"gsm8k_flexx": {}}}',
        '{"accuracy": {"gsm8k_flex": {}}}',
    ),
    Entry(
        "A819",
        "A configured task without bounds",
        "Its results are recorded, nothing is judged.",
        '{"accuracy": {}}',
        '{"accuracy": {"gsm8k_flex": {"gsm8k.exact_match__flexible-extract": {"kind": "min", "value": 0.94}}}}',
    ),
    Entry(
        "A820",
        "An accuracy metric names no filter",
        "lm-eval reports one score per filter; without a name it is open which one is judged.",
        '{"gsm8k.exact_match": {"kind": "min", "value": 0.94}}',
        '{"gsm8k.exact_match__strict-match": {"kind": "min", "value": 0.94}}',
    ),
    Entry(
        "A821",
        "Cells without thresholds",
        "Enforced, every cell of the sweep needs an entry; record-only, this is a warning.",
        '{"ISL=1024,OSL=1024,TP=8,PP=1,CONC=64": {}}',
        '{"ISL=1024,OSL=1024,TP=8,PP=1,CONC=128": {}}',
    ),
    Entry(
        "A822",
        "Gated metrics without a spec",
        "Enforced, each of the 25 gated metrics needs a spec in every cell; info will do.",
        '{"output_throughput": {"kind": "min_tok_s", "value": 1500}}',
        '{"output_throughput": {"kind": "min_tok_s", "value": 1500}, "failed": {"kind": "info"}}',
    ),
    Entry(
        "A823",
        "Gated metrics that the client does not report",
        "They are exempt from the rule that every gated metric needs a spec.",
        '{"params": {"driver": "sglang"}}',
        '{"params": {"driver": "vllm"}}',
    ),
    Entry(
        "A824",
        "Specs that the client may not fill",
        "The metric does not stand in every artifact of this client (older ones of SGLang lack p90 and p95), so the spec "
        "may be SKIPPED, which fails an enforced cell.",
        '{"p95_ttft_ms": {"kind": "max_ms", "value": 900}} with driver sglang',
        '{"p99_ttft_ms": {"kind": "max_ms", "value": 900}} with driver sglang',
    ),
    Entry(
        "A825",
        "Scaling efficiency has no baseline",
        "It is 100 x output_throughput / (baseline x nodes); without a baseline there is nothing to judge.",
        '{"scaling.efficiency_pct": {"kind": "min", "value": 80}}',
        '{"params": {"scaling_baseline_output_throughput": "1500"}}',
    ),
    Entry(
        "A826",
        "A scaling baseline that no spec uses",
        "On several nodes a baseline is given, but no cell bounds scaling.efficiency_pct.",
        '{"params": {"scaling_baseline_output_throughput": "1500", "nnodes": 2}}',
        '{"scaling.efficiency_pct": {"kind": "min", "value": 80}}',
    ),
    Entry(
        "A827",
        "Per-GPU floors that divide by TP alone",
        "A total bound divided by the per-GPU bound gives TP, but the run has TP x PP GPUs. Such "
        "floors were written with another divisor, and a healthy run fails them.",
        '{"output_throughput": {"kind": "min_tok_s", "value": 1600}, "output_tput_per_gpu": '
        '{"kind": "min_tok_s", "value": 200}} on 16 GPUs',
        '{"output_throughput": {"kind": "min_tok_s", "value": 1600}, "output_tput_per_gpu": '
        '{"kind": "min_tok_s", "value": 100}} on 16 GPUs',
    ),
    Entry(
        "A828",
        "The metric belongs in another block",
        "Each block of a threshold file is read for its own metrics: cells for what the benchmark client reports, "
        "accuracy for scores of tasks, long_context_accuracy for needle rates, mtp_quality and quant_parity for theirs. "
        "Elsewhere the bound would never be looked at.",
        '{"accuracy": {"gsm8k_flex": {"mean_ttft_ms": {"kind": "max_ms", "value": 500}}}}',
        '{"ISL=1024,OSL=1024,TP=8,PP=1,CONC=128": {"mean_ttft_ms": {"kind": "max_ms", "value": 500}}}',
    ),
)
