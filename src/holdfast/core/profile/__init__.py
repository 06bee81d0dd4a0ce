"""The two files of a profile as text: how large they are, how they are written and read, and how
one that somebody edited is joined with what changed meanwhile."""

from __future__ import annotations
