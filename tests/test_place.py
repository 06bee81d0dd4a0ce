"""A vault is refused where locks and shared memory cannot be trusted, and nowhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from holdfast.errors import Unsupported
from holdfast.storage.sqlite.database import Database
from holdfast.storage.sqlite.place import (
    Mount,
    check_place,
    is_remote,
    make_folder,
    mount_of,
    mounts,
)

TABLE = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 27 0:28 / /home rw,relatime shared:14 master:2 - nfs4 server:/export/home rw,vers=4.2
32 31 254:0 /scratch /home/ada/scratch rw,relatime shared:14 - ext4 /dev/vda rw
33 27 0:40 / /mnt/my\040disk\134\011x rw - cifs //nas/my\040disk rw
34 27 0:41 / /mnt/ssh rw,nosuid - fuse.sshfs ada@host:/ rw,user_id=0
35 27 0:42 / /data rw - ext4 /dev/vdb rw
36 27 0:43 / /data rw - beegfs none rw
37 27 0:44 / /local rw - fuse.bindfs /srv rw
this line makes no sense
38 27 0:45 / /cut
"""


def kind_at(folder: str) -> str | None:
    mount = mount_of(folder, mounts(TABLE))
    return None if mount is None else mount.kind


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "ext4"),
        ("/var/lib", "ext4"),
        ("/home", "nfs4"),
        ("/home/ada/vault", "nfs4"),
        ("/homework", "ext4"),
        ("/home/ada/scratch/vault", "ext4"),
        ("/home/ada/scratches", "nfs4"),
        ("/mnt/my disk\\\tx/vault", "cifs"),
        ("/mnt/ssh/v", "fuse.sshfs"),
        ("/data/v", "beegfs"),
        ("/cut", "ext4"),
    ],
)
def test_the_longest_mount_point_wins_and_of_two_the_later(folder: str, kind: str) -> None:
    assert kind_at(folder) == kind


def test_escapes_are_undone_in_point_and_source() -> None:
    assert Mount(point="/mnt/my disk\\\tx", kind="cifs", source="//nas/my disk") in mounts(TABLE)


def test_escapes_that_are_none_stay() -> None:
    line = r"1 2 0:1 / /a\9b\12 rw - ext4 /dev/\ x"
    assert mounts(line) == [Mount(point=r"/a\9b\12", kind="ext4", source="/dev/\\")]


def test_no_mount_holds_a_path_when_there_is_no_table() -> None:
    assert mount_of("/anywhere", []) is None


@pytest.mark.parametrize(
    "kind",
    ["nfs", "nfs4", "cifs", "smb3", "afs", "ceph", "lustre", "beegfs", "fuse.sshfs", "fuse.s3fs"],
)
def test_network_file_systems(kind: str) -> None:
    assert is_remote(kind)


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.bindfs", "nfsd"]
)
def test_local_file_systems(kind: str) -> None:
    assert not is_remote(kind)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux names its mounts")
def test_a_network_place_is_refused_by_what_it_really_is(tmp_path: Path) -> None:
    real = tmp_path / "far away"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    escaped = os.path.realpath(real).replace(" ", "\\040")
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / {escaped} rw - nfs4 s:/x rw\n")
    for folder in (real, tmp_path / "link", tmp_path / "link" / "not" / "yet"):
        with pytest.raises(Unsupported, match=r"network file system \(nfs4") as caught:
            check_place(folder, table=table)
        assert caught.value.code == "place_remote"
        assert "local disk" in caught.value.hint
    check_place(tmp_path, table=table)


def test_a_database_asks_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    monkeypatch.setattr("holdfast.storage.sqlite.database.check_place", asked.append)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    Database.open(tmp_path / "link" / "v.db", prepare=lambda _: None).close()
    assert asked == [Path(os.path.realpath(tmp_path / "real"))]


def test_folders_are_made_for_this_user(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert [(tmp_path / part).stat().st_mode & 0o777 for part in ("a", "a/b")] == [0o700, 0o700]
