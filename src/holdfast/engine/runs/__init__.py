"""Runs: executions of agents over directories that are laid out before and kept after."""

from __future__ import annotations
