"""The column types of the manifest, in SQL and as CSV text."""

ARRAY = "array of "
SQL = {
    "string": "text",
    "integer": "bigint",
    "number": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
}


def is_array(type_name: str) -> bool:
    return type_name.startswith(ARRAY)


def item_type(type_name: str) -> str:
    """Return the type of a column's values, or of the items of an array: a key of SQL."""
    return type_name.removeprefix(ARRAY).removesuffix(" or null")


def cast_sql(sql: str, type_name: str) -> str:
    """Cast to exactly the declared type."""
    return f"({sql})::{SQL[item_type(type_name)]}{'[]' if is_array(type_name) else ''}"


def csv_sql(sql: str, type_name: str) -> str:
    """Return the SQL of the CSV text: JSON's true and false, timestamps as in the API, arrays as JSON."""
    value = cast_sql(sql, type_name)
    if is_array(type_name):
        return f"to_json({value})::text"
    if item_type(type_name) == "timestamp":
        return f"api_timestamp({value})"
    # A boolean's own text would be t and f.
    return f"({value})::text" if item_type(type_name) == "boolean" else value
