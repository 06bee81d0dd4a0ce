"""The JSON Schema of `workspace.yml`, for editors: from the forms by which the file is checked."""

from __future__ import annotations

import json

from holdfast.engine.workspace import root


def workspace_schema() -> str:
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "workspace.yml"}
    return json.dumps({**head, **root().schema()}, indent=2, ensure_ascii=False) + "\n"
