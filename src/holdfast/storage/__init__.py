"""Where vaults live: one package for each kind of storage, behind `holdfast.ports.Storage`."""

from __future__ import annotations
