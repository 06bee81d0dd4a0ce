"""Pure algorithms: from values to values, without a clock, randomness or files.

The standard library only.
"""

from __future__ import annotations
