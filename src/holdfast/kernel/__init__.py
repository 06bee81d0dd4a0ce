"""Processes and their values: agents that run in a kernel and keep JSON under their own name.

The names below are imported when they are first asked for, so that a program that needs one of
them does not pay for all (`asyncio` alone costs more than a light command may).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.jsonvalue import Limits, check_key, check_namespace, decode, encode
    from holdfast.kernel.accessor import KernelMemory, MemoryAccessor
    from holdfast.kernel.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
    from holdfast.kernel.copying import CopyReport, copy
    from holdfast.kernel.feed import Feed
    from holdfast.kernel.kernel import Event, ExecutionResult, Kernel
    from holdfast.kernel.memory import InMemoryBackend
    from holdfast.kernel.names import SHARED, process_namespace
    from holdfast.kernel.processes import Agent, Context, Process, ProcessFailed
    from holdfast.model.keyvalue import (
        MISSING,
        Delete,
        Increment,
        Missing,
        Outcome,
        Set,
        Stored,
        ValueChange,
    )
    from holdfast.ports.values import MemoryBackend, MemoryBackendStats

_WHERE = {
    "holdfast.core.jsonvalue": "Limits check_key check_namespace decode encode",
    "holdfast.kernel.accessor": "KernelMemory MemoryAccessor",
    "holdfast.model.keyvalue": ("MISSING Delete Increment Missing Outcome Set Stored ValueChange"),
    "holdfast.ports.values": "MemoryBackend MemoryBackendStats",
    "holdfast.kernel.checkpoint": "Checkpoint read_checkpoint write_checkpoint",
    "holdfast.kernel.copying": "CopyReport copy",
    "holdfast.kernel.feed": "Feed",
    "holdfast.kernel.kernel": "Event ExecutionResult Kernel",
    "holdfast.kernel.memory": "InMemoryBackend",
    "holdfast.kernel.names": "SHARED process_namespace",
    "holdfast.kernel.processes": "Agent Context Process ProcessFailed",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


__all__ = [
    "MISSING",
    "SHARED",
    "Agent",
    "Checkpoint",
    "Context",
    "CopyReport",
    "Delete",
    "Event",
    "ExecutionResult",
    "Feed",
    "InMemoryBackend",
    "Increment",
    "Kernel",
    "KernelMemory",
    "Limits",
    "MemoryAccessor",
    "MemoryBackend",
    "MemoryBackendStats",
    "Missing",
    "Outcome",
    "Process",
    "ProcessFailed",
    "Set",
    "Stored",
    "ValueChange",
    "check_key",
    "check_namespace",
    "copy",
    "decode",
    "encode",
    "process_namespace",
    "read_checkpoint",
    "write_checkpoint",
]
