"""What the commands do: thin, one module a noun. The engine decides; these ask and show."""

from __future__ import annotations
