"""The command line: parses, reads and writes files, prints. No decisions about a run are made here."""
