"""Text search in any case and without accents."""

from typing import Any

from django.db.models import Func, TextField


def fold(text: Any) -> Func:
    """SQL expression: the text in lower case without accents, by the function of fold.sql, which indexes may use."""
    return Func(text, function="fold", output_field=TextField())
