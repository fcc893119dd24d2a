"""`python3 -m sglang.benchmark.serving`."""
