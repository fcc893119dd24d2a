"""Rehearsals: a plan's own commands on this machine, against stand-ins of the engines."""
