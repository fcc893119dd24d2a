"""What a migration does with single forms, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atomcfg import Source, Sources
from atomcfg.diagnostics import Diagnostic
from atomcfg.migration import migrate
from atomcfg.migration.thresholds import TwoForOne, canonical_key, modern_thresholds

from .older import CONFIGS, SIBLINGS, compiled, migrated, new_texts, originals

SINGLE = SIBLINGS["perf"]
TABLE = SINGLE.replace(".json", "_threshold.json")
DISTRIBUTED = "mi300x_atom_deepseek-r1_fp8_distributed.json"


def changed(name: str, **values: Any) -> dict[str, str]:
    """The older folder with a config changed at its top level; None removes."""
    texts = originals()
    value = {**json.loads(texts[name]), **values}
    texts[name] = json.dumps({key: item for key, item in value.items() if item is not None})
    return texts


def lines(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [f"{item.code} {item.severity}: {item.summary} [{item.span.file}]" for item in diagnostics]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("ISL=1,OSL=2,TP=3,CONC=4", "ISL=1,OSL=2,TP=3,PP=1,CONC=4"),
        ("ISL=1,OSL=2,TP=3,PP=2,NNODES=2,CONC=4", "ISL=1,OSL=2,TP=3,PP=2,CONC=4"),
        ("conc=4, isl=1, osl=2, DP=2, tp=3", "ISL=1,OSL=2,TP=3,PP=1,CONC=4"),
        ("ISL=1,XSL=2", "ISL=1,XSL=2"),
    ],
)
def test_keys(written: str, canonical: str) -> None:
    assert canonical_key(written) == canonical


def test_thresholds_of_every_form() -> None:
    spec = {"kind": "min_ratio", "value": 1, "reference": "client.output_throughput", "_client.x": 1}
    value = {
        "_client.comment": {"client.failed": 0},
        "$schema": "x",
        "ISL=1,OSL=2,TP=3,CONC=4": {"client.total_token_throughput": spec, "_client.failed": "kept", "failed": {}},
        "accuracy": {"_c": {"client.failed": 0}, "t": {"client.failed": {"kind": "info"}}},
        "mtp_quality": {"client.failed": {"kind": "info"}},
        "unknown": {"client.failed": 1},
    }
    made, said = modern_thresholds(value)
    assert list(made) == [
        "_client.comment", "$schema", "ISL=1,OSL=2,TP=3,PP=1,CONC=4", "accuracy", "mtp_quality", "unknown",
    ]  # fmt: skip
    assert made["_client.comment"] == value["_client.comment"]
    assert made["unknown"] == value["unknown"]
    assert made["ISL=1,OSL=2,TP=3,PP=1,CONC=4"] == {
        "total_token_throughput": {**spec, "reference": "output_throughput"},
        "_client.failed": "kept",
        "failed": {},
    }
    assert made["accuracy"] == {"_c": {"client.failed": 0}, "t": {"failed": {"kind": "info"}}}
    assert made["mtp_quality"] == {"failed": {"kind": "info"}}
    assert said == (
        "1 cell key in canonical form: ISL=1,OSL=2,TP=3,CONC=4 -> ISL=1,OSL=2,TP=3,PP=1,CONC=4",
        "4 metric names bare: client.total_token_throughput -> total_token_throughput",
    )
    inner = {name: item for name, item in value.items() if name[:1] != "$"}
    assert modern_thresholds({"profiles": {"_p": inner, "perf": inner, "odd": 1}})[0] == {
        "profiles": {"_p": inner, "perf": {name: made[name] for name in made if name[:1] != "$"}, "odd": 1}
    }


def test_two_names_for_one() -> None:
    table = {"profiles": {"p": {"ISL=1,OSL=1,TP=1,PP=1,CONC=1": {"failed": {}, "client.failed": {}}}}}
    with pytest.raises(TwoForOne, match="failed") as fault:
        modern_thresholds(table)
    assert fault.value.path == ("profiles", "p", "ISL=1,OSL=1,TP=1,PP=1,CONC=1", "client.failed")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"{", ["A104 error: not JSON: the text ends too early [x.json]"]),
        (b"[]", ["A205 error: expected an object at top level, found an array [x.json]"]),
        (b"\xff", ["A103 error: byte 0xff is not UTF-8 [x.json]"]),
        (b'{"profiles": {}}', ["A215 error: no profile is chosen [x.json]"]),
        (b'{"profiles": []}', None),
    ],
)
def test_what_does_not_compile_is_not_migrated(data: bytes, found: list[str] | None) -> None:
    made = migrate([Sources(Source("config", "x.json", data))])
    assert made.files == ()
    assert made.diagnostics
    assert found is None or lines(made.diagnostics) == found


def test_all_faults_of_all_files_are_told_and_nothing_is_made() -> None:
    texts = changed(SINGLE, params={"driver": "atom", "num_promts": 1})
    texts[TABLE.replace("single", "mtp3")] = '{"ISL=1,OSL=1,TP=1,CONC=1": {"client.faild": {"kind": "info"}}}'
    made = migrated(CONFIGS, texts)
    assert made.files == ()
    assert {item.code for item in made.diagnostics} == {"A201"}
    table = Source("threshold", "alone_threshold.json", b'{"accuracy": []}')
    assert lines(migrate([], [table]).diagnostics)[0].endswith("[alone_threshold.json]")


def test_a_threshold_file_by_itself() -> None:
    table = Source("threshold", f"somewhere/{TABLE}", originals()[TABLE].encode())
    assert new_texts(migrate([], [table])) == {TABLE: new_texts(migrated([SINGLE]))[TABLE]}


def test_a_collision_in_a_part_that_is_not_used() -> None:
    bounds = {"failed": {"kind": "info"}, "client.failed": {"kind": "info"}}
    text = json.dumps({"profiles": {"perf": {}, "p": {"accuracy": {"t": bounds}}}})
    made = migrate([], [Source("threshold", "x_threshold.json", text.encode())])
    assert made.files == ()
    assert lines(made.diagnostics) == ["A913 error: two keys would become failed [x_threshold.json]"]
    assert made.diagnostics[0].span.path == 'profiles.p.accuracy.t["client.failed"]'


def test_an_unnamed_threshold_file_is_named() -> None:
    texts = changed(SINGLE, threshold_json=None)
    config = Source("config", SINGLE, texts[SINGLE].encode())
    table = Source("threshold", f"in/{TABLE}", texts[TABLE].encode(), TABLE)
    made = migrate([Sources(config, thresholds=(table,), siblings=(TABLE,))], user="tester")
    (file,) = [file for file in made.files if file.name == SINGLE]
    assert file.changes == (f"names its threshold file: {TABLE}",)
    value = json.loads(file.text)
    assert value["threshold_json"] == TABLE
    assert list(value).index("threshold_json") < list(value).index("paths")


def test_thresholds_elsewhere_come_along() -> None:
    texts = changed(SINGLE, threshold_json=f"../limits/{TABLE}")
    config = Source("config", f"in/{SINGLE}", texts[SINGLE].encode())
    table = Source("threshold", f"in/../limits/{TABLE}", texts[TABLE].encode(), f"../limits/{TABLE}")
    made = migrate([Sources(config, thresholds=(table,))], user="tester")
    assert [file.name for file in made.files] == [SINGLE, TABLE]
    assert made.files[0].changes == (f"its threshold file lies beside it: ../limits/{TABLE} -> {TABLE}",)
    assert json.loads(made.files[0].text)["threshold_json"] == TABLE


def test_without_thresholds() -> None:
    texts = changed(SINGLE, threshold_json=None, enforce_thresholds=False)
    config = Source("config", SINGLE, texts[SINGLE].encode())
    made = migrate([Sources(config)], rescale_per_gpu=True, merge=True, user="tester")
    assert [(file.name, file.changes) for file in made.files] == [(SINGLE, ())]


def test_cells_that_are_written_as_keys() -> None:
    key, canonical = "ISL=1024,OSL=1024,TP=8,CONC=128", "ISL=1024,OSL=1024,TP=8,PP=1,CONC=128"
    texts = changed(SINGLE, sweep=None, sweeps={"_c": 1, key: {}}, runs=[key])
    made = migrated([SINGLE], texts)
    value = json.loads(new_texts(made)[SINGLE])
    assert (value["sweeps"], value["runs"]) == ({"_c": 1, canonical: {}}, [canonical])
    assert made.files[0].changes == (f"2 cell keys in canonical form: {key} -> {canonical}",)


def test_two_inputs_of_one_name() -> None:
    texts = originals()
    sources = [
        Sources(
            Source("config", f"{folder}/{SINGLE}", texts[SINGLE].encode()),
            thresholds=(Source("threshold", f"{folder}/{TABLE}", texts[TABLE].encode(), TABLE),),
        )
        for folder in ("a", "b")
    ]
    made = migrate(sources, user="tester")
    assert made.files == ()
    assert lines(made.diagnostics) == [
        f"A914 error: two inputs would be written as {SINGLE} [b/{SINGLE}]",
        f"A914 error: two inputs would be written as {TABLE} [b/{TABLE}]",
    ]
    assert made.diagnostics[0].related[0].span.file == f"a/{SINGLE}"


def test_one_threshold_file_for_two_configs_is_written_once() -> None:
    texts = originals()
    texts["mi300x_atom_other_single.json"] = texts[SINGLE]
    assert set(new_texts(migrated([SINGLE, "mi300x_atom_other_single.json"], texts))) == {
        SINGLE, TABLE, "mi300x_atom_other_single.json",
    }  # fmt: skip


def test_one_profile_for_two_files() -> None:
    texts = originals()
    plain = "mi300x_atom_deepseek-r1_fp8.json"
    texts[plain] = texts[SINGLE]
    made = migrated([SINGLE, plain], texts, merge=True)
    assert made.files == ()
    assert lines(made.diagnostics) == [
        f'A912 error: two files would become the profile "perf" of mi300x_atom_deepseek-r1_fp8 [{plain}]'
    ]


def test_siblings_without_a_perf_file() -> None:
    names = [SIBLINGS["mtp3"], SIBLINGS["mtp3_accuracy"]]
    texts = new_texts(migrated(names, merge=True))
    stem = "mi300x_atom_deepseek-r1_fp8"
    assert list(texts) == [f"{stem}.json", f"{stem}_threshold.json"]
    value = json.loads(texts[f"{stem}.json"])
    assert "default_profile" not in value
    assert value["enforce_thresholds"] is False
    assert list(value["profiles"]) == ["mtp3", "mtp3_accuracy"]
    assert compiled(f"{stem}.json", texts, "mtp3").profile == "mtp3"


def test_a_sibling_without_thresholds_gets_an_empty_profile() -> None:
    texts = changed(SIBLINGS["mtp3"], threshold_json=None)
    config = Source("config", SIBLINGS["mtp3"], texts[SIBLINGS["mtp3"]].encode())
    single = Source("threshold", TABLE, texts[TABLE].encode(), TABLE)
    perf = Sources(Source("config", SINGLE, texts[SINGLE].encode()), thresholds=(single,))
    merged = new_texts(migrate([perf, Sources(config)], merge=True, user="tester"))
    assert json.loads(merged[TABLE])["profiles"]["mtp3"] == {}
    assert compiled(SINGLE, merged, "mtp3").cells[0].specs == ()


def test_thresholds_in_a_profile_come_along() -> None:
    texts = originals()
    value = json.loads(texts[TABLE])
    texts[TABLE] = json.dumps({"profiles": {"other": {}, "perf": {**value, "_note": 1}}})
    merged = new_texts(migrated([SINGLE, SIBLINGS["mtp3"]], texts, merge=True))
    assert json.loads(merged[TABLE])["profiles"]["perf"]["_note"] == 1
    texts[TABLE] = json.dumps({"profiles": {"other": {}}})
    texts[SINGLE] = changed(SINGLE, enforce_thresholds=False)[SINGLE]
    merged = new_texts(migrated([SINGLE, SIBLINGS["mtp3"]], texts, merge=True))
    assert json.loads(merged[TABLE])["profiles"]["perf"] == {}


def test_what_differs_in_type_is_no_common_part() -> None:
    texts = changed(SIBLINGS["mtp3"], platform={"gpu_metrics_poll": "true"})
    merged = json.loads(new_texts(migrated([SINGLE, SIBLINGS["mtp3"]], texts, merge=True))[SINGLE])
    assert "platform" not in merged
    assert merged["profiles"]["mtp3"]["platform"] == {"gpu_metrics_poll": "true"}
    assert merged["profiles"]["perf"]["platform"] == {"gpu_metrics_poll": True}


def test_a_floor_for_configs_of_different_size() -> None:
    """One file for PP=2 with TP=8, on two nodes: and for the same cells with twice the GPUs."""
    texts = originals()
    table = DISTRIBUTED.replace(".json", "_threshold.json")
    assert json.loads(texts[DISTRIBUTED])["threshold_json"] == table
    small = {"threshold_json": "both_threshold.json", "sweep": None, "runs": None}
    key = "ISL=128,OSL=32,TP=1,PP=1,CONC=1"
    texts["both_threshold.json"] = json.dumps(
        {
            key: {
                "output_throughput": {"kind": "min_tok_s", "value": 9},
                "output_tput_per_gpu": {"kind": "min_tok_s", "value": 9},
            }
        }
    )
    base = {**json.loads(texts[SINGLE]), **small, "sweeps": {key: {}}, "enforce_thresholds": False}
    names = []
    for nodes in (2, 4):
        value = json.loads(json.dumps(base))
        value["params"] = {"driver": "atom", "tensor_parallelism": 1, "nnodes": nodes, "max_model_length": 4096}
        value["roles"]["server"]["atom_args"] = []
        names.append(f"mi300x_atom_n{nodes}.json")
        texts[names[-1]] = json.dumps({key: item for key, item in value.items() if item is not None})
    made = migrated(names, texts, rescale_per_gpu=True)
    assert lines(made.diagnostics) == [
        f"A911 error: a floor serves configs of different size: {names[0]} and {names[1]} [both_threshold.json]"
    ]
    one = new_texts(migrated(names[:1], texts, rescale_per_gpu=True))
    assert json.loads(one["both_threshold.json"])[key]["output_tput_per_gpu"]["value"] == 4.5
