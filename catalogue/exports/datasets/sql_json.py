"""JSON put together as text in SQL: a third faster than by PostgreSQL's own functions, and without blanks."""

from collections.abc import Mapping


def an_object(members: Mapping[str, str]) -> str:
    """An object of members, each SQL that gives JSON and never null."""
    parts: list[str] = []
    for name, sql in members.items():
        opens = "," if parts else "{"
        parts += [f"""'{opens}"{name}":'""", sql]
    return f"concat({', '.join(parts)}, '}}')"


def word(sql: str) -> str:
    """A string of letters that JSON has as they are, and never null."""
    return f"""'"' || {sql} || '"'"""


def value(sql: str) -> str:
    """Anything that PostgreSQL knows as JSON, and never null."""
    return f"to_json({sql})"


def or_null(sql: str) -> str:
    """Anything that PostgreSQL knows as JSON."""
    return f"coalesce(to_json({sql})::text, 'null')"


def word_or_null(sql: str) -> str:
    """A string of letters that JSON has as they are."""
    return f"coalesce({word(sql)}, 'null')"
