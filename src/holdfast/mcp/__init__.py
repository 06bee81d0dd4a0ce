"""The Model Context Protocol: what a space offers to agents, to any client that speaks it.

A surface, and no logic: the tools are those of `space.tools()`, the instructions are the context.
Only this package imports the protocol's library, which is an extra.
"""

from __future__ import annotations
