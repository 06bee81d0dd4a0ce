"""Records without a store: their kinds, the parts of a body, and the rules that decide on them."""

from __future__ import annotations
