"""`holdfast preferences`."""

from __future__ import annotations

from holdfast.cli.opening import opened_space, opened_vault, seen_space
from holdfast.cli.output import Column
from holdfast.core.preference_table import BY_NAME, TABLE
from holdfast.core.preferences import schema, value_from
from holdfast.errors import NotFound
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.core.preferences import Preference
    from holdfast.model.entry import Json


def show(call: Call, out: Output) -> None:
    if call["schema"]:
        from json import dumps

        found = schema(TABLE)
        out.emit(found, lambda: dumps(found, indent=2))
        return
    wanted = TABLE if call["name"] is None else (_named(call["name"]),)
    with seen_space(call) as space:
        settings = space.settings()
        rows = [
            {
                "name": one.name,
                "value": settings.each[one.name].value,
                "source": settings.each[one.name].source,
                "help": one.help,
            }
            for one in wanted
        ]
        columns = (
            Column(title="NAME", key="name"),
            Column(title="VALUE", key="value", show=_value),
            Column(title="FROM", key="source"),
        )
        out.table(rows, columns)
        if call["name"] is None:
            out.note(f"preset {settings.preset}, from {settings.preset_source}")
        else:
            out.note(wanted[0].help)


def set_one(call: Call, out: Output) -> None:
    one = _named(call["name"])
    value = None if call["value"] is None else value_from(call["value"], one)
    _change(call, {one.name: value}, None)
    out.emit({"name": one.name, "value": value}, "")
    out.note(f"Set {one.name} to {_value(value)}" if value is not None else f"Took {one.name} back")


def preset(call: Call, out: Output) -> None:
    _change(call, {}, call["preset"])
    out.emit({"preset": call["preset"]}, "")
    out.note(f"The preset is {call['preset']}")


def names(_call: Call, _prefix: str) -> list[tuple[str, str]]:
    return [(one.name, one.help) for one in TABLE]


def _change(call: Call, values: dict[str, Json | None], preset: str | None) -> None:
    if call["here"]:
        with opened_space(call, makes=True) as space:
            space.prefer(values, preset=preset)
    else:
        with opened_vault(call, makes=True) as vault:
            vault.prefer(values, preset=preset)


def _named(name: str) -> Preference:
    if name not in BY_NAME:
        from difflib import get_close_matches

        close = get_close_matches(name, list(BY_NAME), 1)
        raise NotFound(
            "preference_unknown",
            f"there is no preference {shown(name)}",
            hint=f"did you mean {close[0]}?" if close else "holdfast preferences show lists them",
        )
    return BY_NAME[name]


def _value(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return ",".join(str(item) for item in value)
        case _:
            return str(value)
