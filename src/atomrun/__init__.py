"""Execute a plan over SSH in containers, judge it, report it."""
