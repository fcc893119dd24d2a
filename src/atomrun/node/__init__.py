"""What is installed on nodes, as text: packaged beside this module."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from attrs import frozen

__all__ = ["BOOTSTRAP", "Agent", "agent"]

# Runs as `/bin/sh -c BOOTSTRAP sh NONCE SHA256 SIZE ROOT TOKEN` with the agent on standard input, and becomes the
# agent. One line without single quote, ! or backslash: login shells of any kind pass it on. The agent's name says
# its content; a file already there is used if it has that content. ROOT - means the user's own directory.
BOOTSTRAP = """\
umask 077; N=$1; H=$2; L=$3; D=agent-$(echo $H | cut -c1-16).sh; \
case $4 in -) R=/var/tmp/atomrun-$(id -u);; *) R=$4;; esac; \
f() { echo; echo "@@$N 0 END $1"; exit 1; }; \
s() { sha256sum <"$1" 2>/dev/null | cut -c1-64; }; \
command -v sha256sum >/dev/null || f tool; \
mkdir -p -m 700 "$R" 2>/dev/null; \
[ -L "$R" ] && f root; [ -d "$R" ] && [ -O "$R" ] && chmod 700 "$R" && cd "$R" || f root; \
if [ "$(s $D)" = $H ]; then dd bs=$L count=1 iflag=fullblock of=/dev/null 2>/dev/null; \
else dd bs=$L count=1 iflag=fullblock of=$D.$$ 2>/dev/null && [ "$(s $D.$$)" = $H ] && mv -f $D.$$ $D \
|| { rm -f $D.$$; f disk; }; fi; \
cd /; exec sh "$R/$D" serve $N "$R" $5"""


@frozen
class Agent:
    """The agent's text and its SHA-256."""

    text: bytes
    sha256: str


@cache
def agent() -> Agent:
    """The agent as it is installed: its parts, in order, in one file."""
    folder = resources.files(__name__)
    text = b"".join((folder / part).read_bytes() for part in ("agent.sh", "requests.sh", "serve.sh"))
    return Agent(text, hashlib.sha256(text).hexdigest())
