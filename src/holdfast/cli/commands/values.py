"""`kv`: JSON values by key, in the keyvalue stores."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import DURATION, NAME, TEXT

_STORE = Option(
    name="--store",
    kind=NAME,
    help="the store; else the one called keyvalue, or the only one",
    candidates="holdfast.cli.handlers.values:stores",
)
_PLACE = (
    Option(
        name="--namespace",
        short="-n",
        kind=NAME,
        default="default",
        help="the namespace; a process's is process/NAME, the shared one shared",
        candidates="holdfast.cli.handlers.values:namespaces",
    ),
    _STORE,
)
_KEY = Argument(
    name="KEY", kind=NAME, help="the key", candidates="holdfast.cli.handlers.values:keys"
)

KV = (
    Command(
        verb="get",
        summary="print a value",
        handler="holdfast.cli.handlers.values:get",
        arguments=(_KEY,),
        options=(*_PLACE, Option(name="--text", help="print text as it is, not as JSON")),
        details="Exit code 1 when there is no such key.",
        examples=("holdfast kv get config", "holdfast kv get greeting --text"),
    ),
    Command(
        verb="set",
        summary="keep a value",
        handler="holdfast.cli.handlers.values:set_value",
        mutates=True,
        arguments=(_KEY, Argument(name="VALUE", help="the value, as JSON", stdin=True)),
        options=(
            *_PLACE,
            Option(name="--text", help="take the value as text, not as JSON"),
            Option(name="--ttl", kind=DURATION, help="how long it lives; else it stays"),
        ),
        details="Values keep no history: what was there before is gone.",
        examples=(
            """holdfast kv set config '{"model": "small"}'""",
            "holdfast kv set greeting --text 'Good morning' --ttl 8h",
        ),
    ),
    Command(
        verb="delete",
        summary="remove a key",
        handler="holdfast.cli.handlers.values:delete",
        mutates=True,
        arguments=(_KEY,),
        options=_PLACE,
        details="Exit code 1 when there is no such key.",
        examples=("holdfast kv delete config",),
    ),
    Command(
        verb="list",
        summary="list keys",
        handler="holdfast.cli.handlers.values:list_keys",
        arguments=(
            Argument(
                name="PREFIX", kind=TEXT, help="only keys that begin so, exactly", required=False
            ),
        ),
        options=_PLACE,
        examples=("holdfast kv list", "holdfast kv list user: --namespace process/counter"),
    ),
    Command(
        verb="clear",
        summary="remove all keys of a namespace",
        handler="holdfast.cli.handlers.values:clear",
        mutates=True,
        without=("--expect",),
        options=_PLACE,
        details="It asks first. Values keep no history, so this cannot be undone.",
        examples=("holdfast kv clear --namespace process/counter --yes",),
    ),
    Command(
        verb="stats",
        summary="show what each namespace holds",
        handler="holdfast.cli.handlers.values:stats",
        options=(_STORE,),
        examples=("holdfast kv stats",),
    ),
)
