"""What guests left, counted anew."""

from typing import Any

from catalogue import recount
from config.celery import app


@app.task(name="catalogue.tasks.recount_reviews")
def recount_reviews(**_: Any) -> None:
    """Put right the restaurants whose figures are not those of their reviews, and log them."""
    recount.mend()
