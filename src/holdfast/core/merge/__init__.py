"""Comparing and merging contents: lines, lists, JSON, YAML, and whole trees."""

from __future__ import annotations
