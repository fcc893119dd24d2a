"""`python3 -m vllm.entrypoints.cli.main`."""
