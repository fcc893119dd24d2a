"""Stand-in for SGLang 0.5.23: `sglang.launch_server` and `sglang.bench_serving`."""
