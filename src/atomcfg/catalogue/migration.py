"""Codes of a migration: A911 to A914."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A911",
        "A floor cannot be rescaled for configs of different size",
        "The threshold file serves several configs, and they run on different numbers of GPUs: what is right for one of them would be wrong for the other.",
        '{"threshold_json": "mi300x_atom_both_threshold.json"}  in a config with PP=2, and in one with DP=4',
        '{"threshold_json": "mi300x_atom_large_threshold.json"}',
    ),
    Entry(
        "A912",
        "Two files would become one profile",
        "A profile is named by what the file name has beyond the model: _mtp3 is mtp3; _single and nothing are perf. Two files with the same rest cannot both be that profile.",
        "atomcfg migrate mi300x_atom_m_fp8.json mi300x_atom_m_fp8_single.json --merge -o new",
        "atomcfg migrate mi300x_atom_m_fp8.json mi300x_atom_m_fp8_mtp3.json --merge -o new",
    ),
    Entry(
        "A913",
        "Two keys would become one",
        "An older and a newer form of one name stand side by side in a part of the threshold file that these configs do not use. Which of the two bounds counts, only its author knows.",
        '{"client.output_throughput": {"kind": "info"}, "output_throughput": {"kind": "info"}}',
        '{"output_throughput": {"kind": "info"}}',
    ),
    Entry(
        "A914",
        "Two inputs would be written as one file",
        "All results go into one folder, and these two have one name there.",
        "atomcfg migrate lab1/mi300x_atom_m_fp8.json lab2/mi300x_atom_m_fp8.json -o new",
        "atomcfg migrate lab1/mi300x_atom_m_fp8.json -o new/lab1",
    ),
)
