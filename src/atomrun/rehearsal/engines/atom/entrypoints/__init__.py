"""`python -m atom.entrypoints.openai_server`."""
