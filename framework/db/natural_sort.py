"""Sorting by names with numbers as people read them: T2 before T10."""

from django.db.models import F, Func, Value

# More digits than this are compared by their last ones only.
DIGITS = 10


def natural(name: str) -> Func:
    """Return an expression to order by: the text column with each number padded with zeros."""

    def replace(text: object, pattern: str, replacement: str) -> Func:
        return Func(text, Value(pattern), Value(replacement), Value("g"), function="regexp_replace")

    padded = replace(F(name), "([0-9]+)", "0" * DIGITS + r"\1")
    return replace(padded, f"[0-9]*([0-9]{{{DIGITS}}})", r"\1")
