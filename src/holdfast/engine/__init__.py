"""Use cases. Each computes what it can beforehand and carries it out in one unit of work."""

from __future__ import annotations
