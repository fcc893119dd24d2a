"""The command line: reads files, calls the library, prints. No decisions."""
