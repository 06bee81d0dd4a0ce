"""`holdfast kv`."""

from __future__ import annotations

from holdfast.cli.kinds import JSON
from holdfast.cli.opening import opened_space, write_options
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.space import Space


def get(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        stored = _values(call, space).stored(call["key"])
    if stored is None:
        raise _missing(call)
    if not call["text"]:
        out.emit(plain(stored), lambda: _as_json(stored.value))
        return
    if type(stored.value) is not str:
        raise InvalidInput(
            "value_not_text",
            f"the value of {shown(call['key'])} is not text",
            hint="leave `--text` out",
        )
    out.raw(stored.value)


def set_value(call: Call, out: Output) -> None:
    value = call["value"] if call["text"] else _from_json(call["value"])
    ttl = call["ttl"]
    with opened_space(call, makes=True) as space:
        values = _values(call, space)
        revision = values.set(
            call["key"],
            value,
            ttl_s=None if ttl is None else ttl.total_seconds(),
            **write_options(call),
        )
        out.emit({"key": call["key"], "revision": revision}, "")
        out.note(f"Set {_place(call, values.store.label)} to revision {revision}")


def delete(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        values = _values(call, space)
        if not values.delete(call["key"], **write_options(call)):
            raise _missing(call)
        out.emit({"key": call["key"], "deleted": True}, "")
        out.note(f"Removed {_place(call, values.store.label)}")


def list_keys(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        found = list(_values(call, space).list(call["prefix"] or ""))
    out.emit(found, lambda: "\n".join(map(in_a_line, found)))
    if not found:
        out.note(f"No keys in {in_a_line(call['namespace'])}")


def clear(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        values = _values(call, space)
        out.confirm(f"Remove all values of {shown(call['namespace'])} in {values.store.label}?")
        removed = values.clear(**write_options(call))
        out.emit({"namespace": call["namespace"], "removed": removed}, "")
        out.note(f"Removed {removed} from {in_a_line(call['namespace'])}")


def stats(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        found = space.kv(store=call["store"]).stats()
    rows = [
        {"namespace": each.namespace, "entries": each.entries, "bytes": each.bytes}
        for each in found
    ]
    columns = (
        Column(title="NAMESPACE", key="namespace"),
        Column(title="VALUES", key="entries", right=True, show=_thousands),
        Column(title="BYTES", key="bytes", right=True, show=_thousands),
    )
    out.table(rows, columns, empty="No values")


def stores(call: Call, _prefix: str) -> list[str]:
    """The names that `--store` may take."""
    with opened_space(call) as space:
        return [store.called for store in space.seen() if store.strategy == "keyvalue"]


def namespaces(call: Call, _prefix: str) -> list[str]:
    """The namespaces that hold something."""
    with opened_space(call) as space:
        return [each.namespace for each in space.kv(store=call["store"]).stats()]


def keys(call: Call, prefix: str) -> list[str]:
    """Keys that begin so."""
    with opened_space(call) as space:
        return list(_values(call, space).list(prefix))


def _values(call: Call, space: Space):
    return space.kv(call["namespace"], store=call["store"])


def _place(call: Call, store: str) -> str:
    return f"{in_a_line(call['key'])} of {in_a_line(call['namespace'])} in {store}"


def _missing(call: Call) -> NotFound:
    return NotFound(
        "value_not_found",
        f"there is no key {shown(call['key'])} in {shown(call['namespace'])}",
        hint="`holdfast kv list` lists the keys, `holdfast kv stats` the namespaces",
    )


def _from_json(text: str) -> object:
    try:
        return JSON.read(text, 0)
    except ValueError as exc:
        raise InvalidInput(
            "value_not_json",
            f"the value is not JSON: {exc}",
            hint="""put text in quotes of its own ('"text"'), or add `--text`""",
        ) from None


def _as_json(value: object) -> str:
    from json import dumps

    return dumps(value, ensure_ascii=False)


def _thousands(number: int) -> str:
    return f"{number:,}"
