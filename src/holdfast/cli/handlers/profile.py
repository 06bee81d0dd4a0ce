"""`holdfast profile` and `holdfast remember`."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path

from holdfast.cli.opening import opened_space, seen_space, stores_of, write_options
from holdfast.cli.output import in_a_line
from holdfast.core.codec import plain
from holdfast.errors import HoldfastError, Refused, StorageFailed, UsageError
from holdfast.model.profile import QUESTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.model.entry import Advice, Entry
    from holdfast.model.profile import Gauge, ProfileFile, ProfileSync, ProfileWrite

_DONE = {
    "added": "Added to",
    "replaced": "Replaced in",
    "removed": "Removed from",
    "restored": "Restored to",
    "pinned": "Pinned in",
    "unpinned": "Unpinned in",
    "rated": "Rated in",
}


# Reading


def show(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        profile = space.profile(call["store"])
        if call["entry"] is not None:
            entry = profile.get(call["entry"], call["file"])
            out.emit(plain(entry), lambda: _whole(entry))
            return
        files = profile.read(call["file"])
        if call["markdown"]:
            out.emit(plain(files), lambda: "\n".join(file.text for file in files))
        else:
            out.emit(plain(files), lambda: "\n\n".join(map(_listed, files)))
        for file in files:
            _advise(out, file.advice)


def archive(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        profile = space.profile(call["store"])
        found = profile.archive(call["query"] or "", file=call["file"], limit=call["limit"])
        out.emit(plain(found), lambda: "\n".join(map(_line, found)))
        if not found:
            out.note(f"Nothing {'such ' if call['query'] else ''}in the archive")


def timeline(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        profile = space.profile(call["store"])
        found = profile.timeline(call["file"], limit=call["limit"])
        out.emit(
            plain(found),
            lambda: "\n".join(
                f"{each.at:%Y-%m-%d %H:%M}  {each.file:<6}  {each.kind:<8}  {each.entry}  "
                f"{in_a_line(each.text)}"
                for each in found
            ),
        )
        if not found:
            out.note("Nothing was learned yet")


def changes(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        profile = space.profile(call["store"])
        found = profile.changes()
        lines = [
            f"{each.kind:<8}  {each.file:<6}  {each.entry.handle}  {in_a_line(each.entry.text)}"
            for each in found
        ]
        out.emit(plain(found), lambda: "\n".join(lines))
        if not found:
            out.note("Both files are as they were when the session began")


# Writing


def add(call: Call, out: Output) -> None:
    with opened_space(call, makes=True) as space:
        profile = space.profile(call["store"])
        done = profile.add(
            call["text"],
            call["file"],
            importance=call["importance"],
            pinned=call["pinned"],
            scope=call["scope"],
            origin=call["origin"],
            said_at=call["said_at"],
            **write_options(call),
        )
        _told(out, done, done.entry.handle)


def replace(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        profile = space.profile(call["store"])
        done = profile.replace(
            call["entry"],
            call["text"],
            file=call["file"],
            origin=call["origin"],
            **write_options(call),
        )
        _told(out, done, done.entry.handle)


def remove(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        profile = space.profile(call["store"])
        done = profile.remove(call["entry"], file=call["file"], **write_options(call))
        _told(out, done, "")


def restore(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        profile = space.profile(call["store"])
        done = profile.restore(call["entry"], **write_options(call))
        _told(out, done, done.entry.handle)


def pin(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        profile = space.profile(call["store"])
        done = profile.pin(
            call["entry"],
            pinned=not call["off"],
            importance=call["importance"],
            **write_options(call),
        )
        _told(out, done, done.entry.handle)


def batch(call: Call, out: Output) -> None:
    with opened_space(call, makes=True) as space:
        profile = space.profile(call["store"])
        done = profile.batch(call["steps"], origin=call["origin"], **write_options(call))
        out.emit(plain(done), lambda: "\n".join(step.entry.handle for step in done.steps))
        for step in done.steps:
            out.note(_what(step))
        _gone(out, done.evicted)
        for gauge in done.gauges:
            out.note(_gauge(gauge))
        _advise(out, done.advice)


def reset(call: Call, out: Output) -> None:
    if call["undo"] and call["onboarding"]:
        raise UsageError(
            "options_exclude", "`--undo` and `--onboarding` exclude each other", hint="leave one"
        )
    with opened_space(call) as space:
        profile = space.profile(call["store"])
        if call["undo"]:
            done = profile.undo_reset(call["file"], **write_options(call))
        else:
            done = profile.reset(call["file"], onboarding=call["onboarding"], **write_options(call))
        out.emit(plain(done), "")
        for entry in done.archived:
            out.note(f"To the archive: {_line(entry)}")
        for entry in done.restored:
            out.note(f"Back in {done.file}.md: {_line(entry)}")
        out.note(_gauge(done.gauge))
        _advise(out, done.advice)


def onboard(call: Call, out: Output) -> None:
    given = {name: call[name] for name in QUESTIONS if call[name]}
    if not given:
        given = {name: out.ask(question) for name, question in QUESTIONS.items()}
    if not any(given.values()):
        raise UsageError(
            "answers_missing",
            "there is nothing to begin with",
            hint="give --name, --role, --company, --goals, --challenges, --tools or --timezone",
        )
    with opened_space(call, makes=True) as space:
        profile = space.profile(call["store"])
        done = profile.onboard(given, **write_options(call))
        out.emit(plain(done), lambda: "\n".join(map(_line, done.entries)))
        _gone(out, done.evicted)
        out.note(_gauge(done.gauge) if done.changed else "That was known already")
        _advise(out, done.advice)


def remember(call: Call, out: Output) -> None:
    with opened_space(call, makes=True) as space:
        done = space.remember(call["text"], origin=call["origin"], **write_options(call))
        kept = done.entry if done.outcome == "remembered" else None
        out.emit(plain(done), "" if kept is None else kept.handle)
        out.note(done.notice)
        _advise(out, done.advice)


# Files


def export(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        profile = space.profile(call["store"])
        done = profile.export(_folder(call))
        out.emit(plain(done), lambda: "\n".join(each.path for each in done))


def sync(call: Call, out: Output) -> None:
    with opened_space(call, makes=True) as space:
        profile = space.profile(call["store"])
        done = profile.sync(_folder(call), empties=call["empty"], **write_options(call))
        out.emit(plain(done), lambda: "\n".join(each.path for each in done))
        for each in done:
            _merged(out, each)


def edit(call: Call, out: Output) -> None:
    with opened_space(call, makes=True) as space:
        profile = space.profile(call["store"])
        (before,) = profile.read(call["file"])
        with _edited(before) as (path, data):
            if data == before.text.encode():
                out.emit(None, "")
                out.note("Nothing was changed")
                return
            try:
                done = profile.merge(
                    call["file"], data, before, empties=call["empty"], **write_options(call)
                )
            except HoldfastError:
                out.note(f"What you wrote is kept in {_kept(path, data)}")
                raise
        out.emit(plain(done), "")
        _merged(out, done)


@contextmanager
def _edited(before: ProfileFile) -> Generator[tuple[Path, bytes]]:
    """A file for the editor, and what it made of it. It is removed, unless it is kept."""
    from shlex import split
    from subprocess import run
    from tempfile import TemporaryDirectory

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not editor and not sys.stdin.isatty():
        raise Refused(
            "editor_failed",
            "nobody is there to edit, and no program is named that does",
            hint="set VISUAL or EDITOR, or use holdfast profile export and sync",
        )
    editor = editor or "vi"
    with TemporaryDirectory(prefix="holdfast-") as folder:
        path = Path(folder) / f"{before.file}.md"
        path.write_bytes(before.text.encode())
        try:
            code = run([*split(editor), str(path)], check=False).returncode
            data = path.read_bytes()
        except (OSError, ValueError) as exc:
            raise StorageFailed(
                "editor_failed",
                f"the editor {editor} cannot be used: {exc}",
                hint="set VISUAL or EDITOR to one that waits until you close the file",
            ) from exc
        if code:
            raise Refused(
                "editor_failed",
                f"the editor {editor} ended with {code}; nothing was changed",
                hint="set VISUAL or EDITOR to one that waits until you close the file",
            )
        yield path, data


def _kept(path: Path, data: bytes) -> Path:
    """A place where a refused text outlives the editor's file."""
    from tempfile import mkstemp

    handle, name = mkstemp(prefix="holdfast-", suffix=f"-{path.name}")
    with os.fdopen(handle, "wb") as out:
        out.write(data)
    return Path(name)


def _folder(call: Call) -> Path:
    return Path(call["dir"] or ".").absolute()


def _merged(out: Output, done: ProfileSync) -> None:
    for what, entries in (
        ("Added to", done.added),
        ("Replaced in", done.replaced),
        ("Removed from", done.removed),
    ):
        for entry in entries:
            out.note(f"{what} {done.file}.md: {_line(entry)}")
    for clash in done.clashes:
        also = f"; added {in_a_line(clash.added)}" if clash.added else ""
        out.warn(
            f"{clash.entry} changed meanwhile: kept {in_a_line(clash.kept)}{also}",
            code="profile_clash",
        )
    _gone(out, done.evicted)
    if done.added or done.replaced or done.removed:
        out.note(_gauge(done.gauge))
    _advise(out, done.advice)


# Words


stores = stores_of("profile")


def _told(out: Output, done: ProfileWrite, data: str) -> None:
    out.emit(plain(done), data)
    out.note(f"{_what(done)} {done.gauge}")
    for near in done.near:
        out.warn(f"nearly the same: {_line(near)}", code="profile_near")
    _gone(out, done.evicted)
    _advise(out, done.advice)


def _what(done: ProfileWrite) -> str:
    if done.outcome == "unchanged":
        gone = done.entry.state == "forgotten"
        return f"{'Gone already from' if gone else 'Already in'} {done.file}.md"
    return f"{_DONE[done.outcome]} {done.file}.md"


def _gone(out: Output, evicted: Iterable[Entry]) -> None:
    for entry in evicted:
        out.note(f"To the archive: {_line(entry)}")


def _advise(out: Output, advice: Iterable[Advice]) -> None:
    for each in advice:
        out.warn(each.message, code=each.code)


def _gauge(gauge: Gauge) -> str:
    return f"{gauge.file}.md {gauge}"


def _line(entry: Entry) -> str:
    return f"{entry.handle}  {in_a_line(entry.text)}"


def _listed(file: ProfileFile) -> str:
    lines = [_gauge(file.gauge)]
    for entry in file.entries:
        text = entry.text.replace("\n", "\n" + " " * (len(entry.handle) + 4))
        lines.append(f"{'*' if entry.pinned else ' '} {entry.handle}  {text}")
    return "\n".join(lines)


def _whole(entry: Entry) -> str:
    hidden = ", in the archive" if entry.hidden else ""
    pinned = ", pinned" if entry.pinned else ""
    return "\n".join(
        [
            "It was forgotten." if entry.state == "forgotten" else entry.text,
            "",
            f"id          {entry.id}",
            f"file        {entry.kind}.md{hidden}",
            f"state       {entry.state}, revision {entry.revision}",
            f"created     {entry.created:%Y-%m-%d %H:%M} UTC",
            f"updated     {entry.updated:%Y-%m-%d %H:%M} UTC",
            f"origin      {entry.origin}, trust {entry.trust}",
            f"importance  {entry.importance}{pinned}",
            f"for         {entry.scope or 'everyone in the space'}",
            *([f"session     {entry.session}"] if entry.session else []),
        ]
    )
