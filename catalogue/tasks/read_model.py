"""Maintenance of the read model and the change feed."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from catalogue import reference_data
from catalogue.history import publish
from catalogue.read_model import rebuild
from catalogue.search import rank_refresh
from framework.tasks.dispatch import enqueue


@shared_task(name="catalogue.tasks.refresh_ranks")
def refresh_ranks(**_: Any) -> None:
    """Update the list ranks of restaurants whose ratings have changed."""
    rank_refresh.refresh_ranks(now=timezone.now())


@shared_task(name="catalogue.tasks.repair_read_model")
def repair_read_model(**_: Any) -> None:
    """Re-render rows that differ from the restaurants, and log them."""
    rebuild.repair_read_model()


@shared_task(name="catalogue.tasks.publish_changes")
def publish_changes(**_: Any) -> None:
    """Assign feed positions to committed changes."""
    publish.publish_versions()


@shared_task(name="catalogue.tasks.render_restaurants")
def render_restaurants(
    *, source: str | None = None, cuisine: str | None = None, market: str | None = None, **_: Any
) -> None:
    """Re-render the restaurants that show this source, cuisine or market."""
    reference_data.rerender_restaurants(source=source, cuisine=cuisine, market=market)


def enqueue_rendering(*, source: str | None = None, cuisine: str | None = None, market: str | None = None) -> None:
    """Enqueue the rendering for changed reference data; call it after the commit."""
    enqueue(render_restaurants, source=source, cuisine=cuisine, market=market)
