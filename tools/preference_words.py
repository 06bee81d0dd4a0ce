"""The words of docs/reference/preferences.md around the tables that are made."""

from __future__ import annotations

PAGE = """
# Preferences

What memory believes, shows and forgets by itself. One JSON file, `preferences/memory.json` in the
vault's folder, holds what differs from the defaults; it is read again when it changes:

```json
{
  "preset": "balanced",
  "recall": {"limit": 12},
  "spaces": {"app": {"disclosure": {"depth": "summary"}}}
}
```

```sh
holdfast preferences show
holdfast preferences set recall.limit 12
holdfast preferences set recall.limit
holdfast preferences preset strict
holdfast preferences preset balanced
```

```python
import holdfast

with holdfast.open("memory") as vault:
    space = vault.space()
    vault.prefer({"recall.limit": 12})
    space.prefer({"recall.limit": 10})
    assert space.settings().each["recall.limit"].value == 10
    once = space.preferring({"recall.limit": 3})  # for the calls that are made on it
    assert once.settings().each["recall.limit"].source == "call"
    space.prefer({"recall.limit": None})  # taken back
    assert space.settings().whole("recall.limit") == 12
```

## Layers

From the weakest to the strongest; `holdfast preferences show` says which one decided.

| layer | where |
|---|---|
| built in | the column `balanced` below |
| vault | `preferences/memory.json` |
| space | the same file, `spaces`, under the space's name; `--here`, `space.prefer` |
| environment | `HOLDFAST_PREFERENCES`, JSON of the same form without `spaces` |
| call | `space.preferring`, and what a call says itself: a limit, a budget, a depth |

A layer that names a preset sets every preference to what the preset says; what the same layer or a
stronger one sets stays set on top.

A mistake is an error that names the file, the field and the cure, and nothing is guessed instead:

```text
error: memory.json: recall.limit: 900 is not a whole number from 1 to 50 [preference_invalid]
hint: write a whole number from 1 to 50
```

A vault in RAM keeps its preferences in RAM; a vault in `sqlite:///file.db` keeps them in the folder
`file.db-preferences`. The [schema](preferences.schema.json) is made from the table below, as
`holdfast preferences show --schema` prints it.

## Presets

`strict` asks more before something is believed; `aggressive` asks nothing, and shows more;
`disabled` shows nothing by itself and takes no new record, while reading, searching and forgetting
go on. Where a preset has no column of its own below, it is as `balanced`.
"""
