"""The read model and the feed of changes: what time changes in them, and what nothing should have."""

from typing import Any

from django.utils import timezone

from catalogue import ranking, rendering, versions
from config.celery import app


@app.task(name="catalogue.tasks.rank_lists")
def rank_lists(**_: Any) -> None:
    """Move the restaurants whose ratings have changed to their new places in lists."""
    ranking.catch_up(now=timezone.now())


@app.task(name="catalogue.tasks.check_reading")
def check_reading(**_: Any) -> None:
    """Render anew what is not as it should be, and log it."""
    rendering.mend()


@app.task(name="catalogue.tasks.publish_changes")
def publish_changes(**_: Any) -> None:
    """Give the changes that were committed their places in the feed."""
    versions.publish()
