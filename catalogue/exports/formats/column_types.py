"""What the words for types of columns mean: in SQL, and in the text of CSV."""

ARRAY = "array of "
SQL = {
    "string": "text",
    "integer": "bigint",
    "number": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
}


def is_array(word: str) -> bool:
    """Whether a column holds lists."""
    return word.startswith(ARRAY)


def plain(word: str) -> str:
    """The type of a column's values, or of the items of its lists: one of those in SQL."""
    return word.removeprefix(ARRAY).removesuffix(" or null")


def typed(sql: str, word: str) -> str:
    """SQL of exactly the type that the word says."""
    return f"({sql})::{SQL[plain(word)]}{'[]' if is_array(word) else ''}"


def text(sql: str, word: str) -> str:
    """SQL of what CSV shows: the words of JSON for true and false, moments as the API says them, lists as JSON."""
    value = typed(sql, word)
    if is_array(word):
        return f"to_json({value})::text"
    if plain(word) == "timestamp":
        return f"api_timestamp({value})"
    # PostgreSQL's own would be t and f.
    return f"({value})::text" if plain(word) == "boolean" else value
