"""Stand-in for lm-eval 0.4.12: it asks a server a few made-up questions per task and writes lm-eval's files."""

__version__ = "0.4.12"
