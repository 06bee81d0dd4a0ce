"""What is kept in PostgreSQL, for programs on several machines that share one server."""

from __future__ import annotations
