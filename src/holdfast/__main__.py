"""`python -m holdfast` is the program `holdfast`."""

from __future__ import annotations

import sys

from holdfast.cli import program

if __name__ == "__main__":
    sys.exit(program())
