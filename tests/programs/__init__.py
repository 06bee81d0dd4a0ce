"""Programs that tests run as processes of their own."""

from __future__ import annotations
