"""What `pip install holdfast` brings along: packages, and the bytes of their downloads."""

from __future__ import annotations

import re
import subprocess
import sys

from bench.setting import QUICK, ROOT
from bench.table import Goal, Row, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from bench.setting import Setting

LOCK = ROOT / "requirements" / "run.lock"
BUILDS = ("flit-core",)
PACKAGES_MAX, MEGABYTES_MAX = 10, 12


def run(setting: Setting) -> Table:
    packages = locked(LOCK)
    rows = [
        Row(
            name="holdfast, packages it needs",
            figure=str(len(packages)),
            goal=Goal(limit=PACKAGES_MAX, of="packages"),
            judged=len(packages),
        )
    ]
    sizes = {} if setting.size >= QUICK else downloaded(packages, setting.folder / "wheels")
    if sizes:
        megabytes = sum(sizes.values()) / 1e6
        rows.append(
            Row(
                name="holdfast, their downloads",
                figure=f"{megabytes:.1f} MB",
                goal=Goal(limit=MEGABYTES_MAX, of="MB"),
                judged=megabytes,
            )
        )
        rows += [
            Row(name=f"  {name}", figure=f"{size / 1e6:.2f} MB")
            for name, size in sorted(sizes.items(), key=lambda item: -item[1])
        ]
    else:
        rows.append(Row(name="holdfast, their downloads", figure="–", remark="not downloaded"))
    return Table(
        job="footprint",
        title="packages of the core install, and the size of their downloads for this platform",
        ratio="none",
        rows=tuple(rows),
        notes=("From requirements/run.lock; what only builds the project is not counted.",),
    )


def locked(lock: Path) -> list[str]:
    """The requirements of a lock, with their conditions and without their hashes."""
    lines = re.findall(r"^([a-z][^\\\n]*?) *\\?$", lock.read_text(), re.MULTILINE)
    return [line for line in lines if line.partition("==")[0] not in BUILDS]


def downloaded(packages: list[str], folder: Path) -> dict[str, int]:
    """The bytes of each wheel, by its name; nothing when there is no index to ask."""
    folder.mkdir()
    asked = folder / "asked.txt"
    asked.write_text("\n".join(packages))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
    done = subprocess.run(
        [*pip, "--no-deps", "--requirement", asked, "--dest", folder],
        check=False,
        stderr=subprocess.DEVNULL,
    )
    if done.returncode:
        return {}
    files = [file for file in folder.iterdir() if file != asked]
    return {file.name: file.stat().st_size for file in files}
