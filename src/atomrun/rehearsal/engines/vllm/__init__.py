"""Stand-in for vLLM 0.33: `python3 -m vllm.entrypoints.cli.main serve` and `... bench serve`."""
