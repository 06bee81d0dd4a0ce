"""A vault in one SQLite file: the database's promises below, the vault's tables above."""

from __future__ import annotations
