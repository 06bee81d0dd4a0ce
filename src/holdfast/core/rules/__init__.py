"""The reviewer that needs no model: rules, pure and repeatable."""

from __future__ import annotations

from holdfast.core.rules.review import in_message, review

NAME = "rules"

__all__ = ["NAME", "in_message", "review"]
