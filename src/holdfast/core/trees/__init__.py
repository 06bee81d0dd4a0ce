"""Versioned directories without a disk: their format, what changed, what to store, what to keep."""

from __future__ import annotations
