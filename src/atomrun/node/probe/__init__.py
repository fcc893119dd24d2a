"""What asks the server, from inside its container: readiness, functional checks, answers, and the end of jobs.

Standard library only, Python 3.6 or later: it runs on whatever interpreter an image has. `atomrun.tools` packs this
folder into `probe.pyz`; `python3 probe.pyz MODE JSON` prints lines `@@ATOMRUN {...}`, the last one is the answer.
"""
