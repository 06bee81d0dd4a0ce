"""Measuring Holdfast beside a floor and beside its peers; see docs/reference/benchmarks.md."""

from __future__ import annotations
