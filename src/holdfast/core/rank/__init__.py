"""Ranking: what is asked, which texts meet it, and how good each of them is. Pure functions."""

from __future__ import annotations
