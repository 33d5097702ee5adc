"""Search over folded names."""

from django.db import models
from django.db.models import Func, Value


def fold(term: str) -> Func:
    """SQL expression: the term in lower case without accents, as in the folded columns."""
    return Func(Value(term, output_field=models.TextField()), function="fold", output_field=models.TextField())
