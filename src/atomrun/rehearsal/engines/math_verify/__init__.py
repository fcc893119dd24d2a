"""Stand-in for math-verify: there to be imported, as a check of the installation does."""
