"""What the stand-in engines share: command lines as data, a latency model, an HTTP server, a load generator.

Standard library and aiohttp only: this runs inside a container that has nothing else, so nothing here
imports atomrun or atomcfg. `docs/rehearsal.md` states the model, the knobs and the faults.
"""
