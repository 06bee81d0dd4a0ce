"""What Holdfast talks about: frozen values and their rules of form. Standard library only."""

from __future__ import annotations
