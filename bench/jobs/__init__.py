"""One module for each job: `run(setting)` gives its table."""

from __future__ import annotations
