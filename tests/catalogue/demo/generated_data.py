"""Run `manage.py demo_data` in a test."""

from datetime import date
from io import StringIO
from typing import Any

from django.core.management import call_command

TODAY = date(2026, 11, 21)


def demo_data(*, restaurants: int = 120, reviews: int = 1_500, seed: int = 7, **options: Any) -> str:
    """Run the command and return its stdout."""
    stdout = StringIO()
    call_command(
        "demo_data",
        restaurants=restaurants,
        reviews=reviews,
        seed=seed,
        today=options.pop("today", TODAY),
        stdout=stdout,
        stderr=StringIO(),
        **options,
    )
    return stdout.getvalue()
