"""The read model and the feed of changes: what time changes in them, and what nothing should have."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue import reference_data
from catalogue.history import publish
from catalogue.read_model import rebuild
from catalogue.search import rank_refresh
from framework.tasks.dispatch import enqueue


@shared_task(name="catalogue.tasks.rank_lists")
def rank_lists(**_: Any) -> None:
    """Move the restaurants whose ratings have changed to their new places in lists."""
    rank_refresh.refresh_ranks(now=timezone.now())


@shared_task(name="catalogue.tasks.check_reading")
def check_reading(**_: Any) -> None:
    """Render anew what is not as it should be, and log it."""
    rebuild.repair_read_model()


@shared_task(name="catalogue.tasks.publish_changes")
def publish_changes(**_: Any) -> None:
    """Give the changes that were committed their places in the feed."""
    publish.publish_versions()


@shared_task(name="catalogue.tasks.render_again")
def render_again(
    *, source: str | None = None, cuisine: str | None = None, market: str | None = None, **_: Any
) -> None:
    """Render the restaurants anew that show this source, cuisine or market."""
    reference_data.rerender_restaurants(source=source, cuisine=cuisine, market=market)


def enqueue_rendering(*, source: str | None = None, cuisine: str | None = None, market: str | None = None) -> None:
    """Ask a worker to render what shows this entry of a dictionary; call it after the commit."""
    enqueue(render_again, source=source, cuisine=cuisine, market=market)
