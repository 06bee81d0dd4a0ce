"""Write the whole schema of a SQLite vault, as the sum of its steps, to read and to compare."""

from __future__ import annotations

import apsw

from holdfast.storage.migrate import steps_in
from holdfast.storage.sqlite import schema

HEAD = "-- The whole schema: the sum of the steps in migrations/, where everything is explained.\n"


def whole_schema() -> str:
    conn = apsw.Connection(":memory:")
    for step in steps_in(schema.HERE):
        conn.execute(step.sql)
    wanted = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE '%_terms_%'"
    return HEAD + "".join(f"\n{sql};\n" for (sql,) in conn.execute(wanted))


if __name__ == "__main__":
    (schema.HERE / "schema.sql").write_text(whole_schema(), "utf-8")
