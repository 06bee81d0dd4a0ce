"""Pure algorithms: from values to values, no clock, no randomness, no files. Standard library only."""

from __future__ import annotations
