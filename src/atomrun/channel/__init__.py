"""The framed conversation with a node's agent, over any pair of pipes."""

from __future__ import annotations

from .agenthost import AgentHost
from .pipes import Open, Pipes, ProcessPipes
from .reasons import Failure, explain
from .reconnect import Channel

__all__ = ["AgentHost", "Channel", "Failure", "Open", "Pipes", "ProcessPipes", "explain"]
