"""JSON built as text in SQL: a third faster than PostgreSQL's own functions, and without spaces."""

from collections.abc import Mapping


def json_object(members: Mapping[str, str]) -> str:
    """A JSON object; each member is SQL that returns JSON and never null."""
    parts: list[str] = []
    for name, sql in members.items():
        opens = "," if parts else "{"
        parts += [f"""'{opens}"{name}":'""", sql]
    return f"concat({', '.join(parts)}, '}}')"


def json_plain(sql: str) -> str:
    """A JSON string that needs no escaping, never null."""
    return f"""'"' || {sql} || '"'"""


def json_value(sql: str) -> str:
    """The JSON of any value, never null."""
    return f"to_json({sql})"


def json_nullable(sql: str) -> str:
    """The JSON of any value, or null."""
    return f"coalesce(to_json({sql})::text, 'null')"


def json_plain_nullable(sql: str) -> str:
    """A JSON string that needs no escaping, or null."""
    return f"coalesce({json_plain(sql)}, 'null')"
