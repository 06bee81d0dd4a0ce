"""What a figure is worth depends on these: the versions, the machine and what else it was doing."""

from __future__ import annotations

import os
import platform
from importlib.metadata import distributions
from pathlib import Path

import apsw

import holdfast
from holdfast.storage.sqlite.place import MOUNTS, mount_of, mounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bench.setting import Setting

PEERS = (
    *("basic-memory", "chromadb", "diskcache", "langgraph", "langgraph-checkpoint-sqlite"),
    *("mem0ai", "tantivy"),
)


def facts(setting: Setting) -> dict[str, str]:
    return {
        "holdfast": holdfast.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "sqlite": f"{apsw.sqlite_lib_version()}, apsw {apsw.apsw_version()}",
        "peers": peers(setting.peers),
        "machine": f"{os.cpu_count()} cores, {_cpu()}",
        "kernel": f"{platform.system()} {platform.release()}",
        "file system": _file_system(setting.folder),
        "load before": load(),
    }


def load() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def peers(folder: Path) -> str:
    """The peers that a venv holds, with their versions."""
    sites = [str(site) for site in folder.glob("lib/python*/site-packages")]
    found = {item.metadata["Name"].lower(): item.version for item in distributions(path=sites)}
    names = [f"{name} {found[name]}" for name in PEERS if name in found]
    return ", ".join(names) or "none installed (bash bench/peers.sh)"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _file_system(folder: Path) -> str:
    try:
        mount = mount_of(os.path.realpath(folder), mounts(MOUNTS.read_text()))
    except OSError:
        mount = None
    return "unknown" if mount is None else f"{mount.kind} on {mount.source}"
