"""What encrypting the whole file costs: the same work on a plain and on an encrypted vault."""

from __future__ import annotations

from functools import partial

from bench import vaults
from bench.jobs import add_entry, context, durable_write
from bench.measure import Candidate, alternate
from bench.table import Goal, Row, Table, row_of
from holdfast.storage.sqlite.keys import key_from_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bench.setting import Setting

PLAIN, CIPHERED = "plain", "encrypted"


def run(setting: Setting) -> Table:
    size = setting.pick(10_000, 10_000, 30)
    rows = [
        *_pair(
            setting, "Database.write", *_writes(), setting.pick((3000, 100), (1000, 100), (20, 10))
        ),
        *_pair(
            setting,
            "notes.save",
            *_saves(setting, size),
            setting.pick((1000, 100), (400, 100), (10, 5)),
        ),
        *_pair(
            setting,
            "context",
            *_contexts(setting, size),
            setting.pick((1000, 50), (500, 50), (10, 5)),
        ),
    ]
    return Table(
        job="encryption",
        title=f"AEGIS-256 over the whole file, beside a plain one of as many notes ({size:,})",
        ratio="time to that of the plain vault",
        rows=tuple(rows),
        notes=("The key is raw: opening with a passphrase costs Argon2id once more, on purpose.",),
    )


def _pair(
    setting: Setting, what: str, plain: Candidate, ciphered: Candidate, counts: tuple[int, int]
) -> list[Row]:
    found = alternate(
        [plain, ciphered], setting.folder, rounds=setting.rounds, count=counts[0], each=counts[1]
    )
    floor = found[PLAIN]
    rows = [row_of(floor, floor), row_of(found[CIPHERED], floor, Goal(limit=1.25))]
    return [row.replace(name=f"{what}, {row.name}") for row in rows]


def _writes() -> tuple[Candidate, Candidate]:
    key = key_from_text(vaults.RAW_KEY)
    return (
        Candidate(name=PLAIN, start=durable_write.ours),
        Candidate(name=CIPHERED, start=partial(durable_write.ours, key=key)),
    )


def _saves(setting: Setting, size: int) -> tuple[Candidate, Candidate]:
    ours = partial(add_entry.ours, setting, size)
    return (
        Candidate(name=PLAIN, start=ours),
        Candidate(name=CIPHERED, start=partial(ours, key=vaults.RAW_KEY)),
    )


def _contexts(setting: Setting, size: int) -> tuple[Candidate, Candidate]:
    plain = vaults.vault(setting, size)
    ciphered = vaults.vault(setting, size, key=vaults.RAW_KEY)
    return (
        Candidate(name=PLAIN, start=partial(context.ours, plain)),
        Candidate(name=CIPHERED, start=partial(context.ours, ciphered, key=vaults.RAW_KEY)),
    )
