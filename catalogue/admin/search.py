"""Searches over folded names."""

from django.db import models
from django.db.models import Func, Value


def fold(term: str) -> Func:
    """The term as the folded columns have it: no case, no accents."""
    return Func(Value(term, output_field=models.TextField()), function="fold", output_field=models.TextField())
