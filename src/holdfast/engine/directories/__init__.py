"""Versioned directories: from a working folder to the vault and back."""

from __future__ import annotations
