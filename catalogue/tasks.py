"""Celery tasks of the catalogue, and the functions that enqueue them after a commit."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from catalogue import insights, offers, reference_data
from catalogue.bookings import deposits
from catalogue.exports.jobs import cleanup, worker
from catalogue.exports.requests import payment_state
from catalogue.history import publish
from catalogue.hours import holidays, open_intervals
from catalogue.models import Export, SearchRow
from catalogue.order_payments import payment as order_payment
from catalogue.photos import downloads
from catalogue.places import cuisine_merge, neighborhoods
from catalogue.read_model import rebuild
from catalogue.reviews import aggregates
from catalogue.search import rank_refresh
from catalogue.ucp import completion as checkouts
from framework.tasks.dispatch import enqueue

# A worker keeps the snapshot of an export open for its next task, even if that is of another export.
KEEP_SNAPSHOT_S = 50
# If the queue is longer than this, the next sweep must not add to it.
SWEEP_EXPIRES_S = 20
# The reviews that one task reads at most: about ten seconds of work; finding what is due takes 0.25 s for 356,000
# restaurants. A worker that is stopped loses one batch.
MAX_REVIEWS = 30_000
# Of one task that downloads photos; the last download may take its timeout more.
DOWNLOAD_S = 30.0
# The open intervals that one task computes at most: about 15 s of work, far from its time limit.
MAX_INTERVAL_ROWS = 50_000
# The restaurants around changed neighborhoods that one task reads at most: about 10 s of work.
MAX_NEIGHBORHOOD_ROWS = 20_000


@shared_task(name="catalogue.tasks.write_export")
def write_export(*, export: str, **_: Any) -> None:
    """Do one step of an export, and enqueue the next steps."""
    found = Export.objects.get(pk=export)
    for _step in range(worker.run_step(found, keep_snapshot_s=KEEP_SNAPSHOT_S)):
        enqueue_export_step(found)


@shared_task(name="catalogue.tasks.enqueue_stalled_exports")
def enqueue_stalled_exports(**_: Any) -> None:
    """Enqueue a step of each export that waits for a worker."""
    for export in cleanup.list_stalled(now=timezone.now()):
        enqueue_export_step(export, expires_s=SWEEP_EXPIRES_S)


@shared_task(name="catalogue.tasks.clean_up_exports")
def clean_up_exports(**_: Any) -> None:
    """Reconcile payments, enqueue stalled exports, then delete orphaned files."""
    payment_state.reconcile(now=timezone.now())
    enqueue_stalled_exports()
    cleanup.remove_orphaned_files()


@shared_task(name="catalogue.tasks.reconcile_deposits")
def reconcile_deposits(**_: Any) -> None:
    """Refund deposits that have booked nothing, and return those of reservations that are over."""
    deposits.reconcile(now=timezone.now())


@shared_task(name="catalogue.tasks.finish_checkouts")
def finish_checkouts(**_: Any) -> None:
    checkouts.finish_placed(now=timezone.now())


@shared_task(name="catalogue.tasks.reconcile_order_payments")
def reconcile_order_payments(**_: Any) -> None:
    """Finish payments of orders whose request died, and record which refunds are due or were sent."""
    order_payment.reconcile(now=timezone.now())


@shared_task(name="catalogue.tasks.delete_expired_removals")
def delete_expired_removals(**_: Any) -> None:
    """Delete the removals that no delta needs any more."""
    cleanup.delete_expired_removals(now=timezone.now())


def enqueue_export_step(export: Export, *, expires_s: int | None = None) -> None:
    """Enqueue a step in the export's queue; call it after the commit. The periodic task enqueues lost steps."""
    enqueue(write_export, queue=export.queue, expires_s=expires_s, export=str(export.pk))


@shared_task(name="catalogue.tasks.add_holidays")
def add_holidays(**_: Any) -> None:
    """Add the missing holidays of this year and the next two."""
    holidays.add_missing_holidays(now=timezone.now())


class RowsLockedError(Exception):
    """Other transactions held restaurants whose intervals are missing, so they were skipped."""


# Timeouts and held rows are retried within a minute, not by the next beat.
@shared_task(
    name="catalogue.tasks.refresh_open_intervals",
    autoretry_for=(OperationalError, RowsLockedError),
    retry_backoff=2,
    max_retries=5,
)
def refresh_open_intervals(**_: Any) -> None:
    """Compute the open intervals that are due, and enqueue another task if that was only a part of them."""
    if open_intervals.refresh_open_intervals(now=timezone.now(), at_most=MAX_INTERVAL_ROWS) == MAX_INTERVAL_ROWS:
        enqueue_open_intervals()
    elif SearchRow.objects.filter(intervals_missing=True).exists():
        raise RowsLockedError


def enqueue_open_intervals() -> None:
    """Enqueue the task; call it after the commit. Otherwise it runs within the hour."""
    enqueue(refresh_open_intervals)


@shared_task(name="catalogue.tasks.update_neighborhoods")
def update_neighborhoods(**_: Any) -> None:
    """Work out the restaurants around changed neighborhoods, and enqueue another task if some are left."""
    if neighborhoods.update_neighborhoods(now=timezone.now(), at_most=MAX_NEIGHBORHOOD_ROWS):
        enqueue_neighborhoods()


def enqueue_neighborhoods() -> None:
    """Enqueue the task; call it after the commit. Otherwise it runs within ten minutes."""
    enqueue(update_neighborhoods)


@shared_task(name="catalogue.tasks.refresh_insights")
def refresh_insights(*, requested_only: bool = False, **_: Any) -> None:
    """Generate some of the insights that are due, of all or of the requested ones; enqueue more if any is left."""
    now = timezone.now()
    if insights.refresh(now=now, max_reviews=MAX_REVIEWS, requested_only=requested_only):
        enqueue_insights(requested_only=requested_only)
    elif requested_only:
        insights.delete_old_requests(now=now)


def enqueue_insights(*, requested_only: bool = False) -> None:
    """Enqueue the generation of insights, all or the requested ones; call it after the commit. All run at night."""
    enqueue(refresh_insights, requested_only=requested_only)


@shared_task(name="catalogue.tasks.download_photos")
def download_photos(**_: Any) -> None:
    """Download photos that imports have listed, and enqueue another task if more are due."""
    if downloads.download_due(clock=timezone.now, duration_s=DOWNLOAD_S):
        enqueue_photo_downloads()


def enqueue_photo_downloads() -> None:
    """Enqueue the task; call it after the commit. Otherwise it runs within ten minutes."""
    enqueue(download_photos)


@shared_task(name="catalogue.tasks.generate_slots")
def generate_slots(restaurant: str | None = None, **_: Any) -> None:
    """Generate the slots of the next two weeks from rules and opening hours, for one restaurant or all."""
    offers.materialize_slots(now=timezone.now(), restaurants=[UUID(restaurant)] if restaurant else None)


@shared_task(name="catalogue.tasks.release_seats")
def release_seats(**_: Any) -> None:
    """Return the seats of cancelled reservations to their slots."""
    offers.release_cancelled_bookings(now=timezone.now())


def enqueue_slot_generation(restaurant: UUID) -> None:
    """Enqueue the generation for a restaurant; call it after the commit. All are generated each hour."""
    enqueue(generate_slots, restaurant=str(restaurant))


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


@shared_task(name="catalogue.tasks.recount_reviews")
def recount_reviews(**_: Any) -> None:
    """Correct and log restaurants whose aggregates differ from their reviews."""
    aggregates.repair_all()


@shared_task(name="catalogue.tasks.render_restaurants")
def render_restaurants(
    *, source: str | None = None, cuisine: str | None = None, market: str | None = None, **_: Any
) -> None:
    """Re-render the restaurants that show this source, cuisine or market."""
    reference_data.rerender_restaurants(source=source, cuisine=cuisine, market=market)


@shared_task(name="catalogue.tasks.merge_cuisines")
def merge_cuisines(*, loser: str, into: str, actor: str, **_: Any) -> None:
    """Merge a cuisine into another one."""
    cuisine_merge.merge_cuisine(loser, into=into, actor=actor, now=timezone.now())


def enqueue_cuisine_merge(*, loser: str, into: str, actor: str) -> None:
    """Enqueue a merge; call it after the commit."""
    enqueue(merge_cuisines, loser=loser, into=into, actor=actor)


def enqueue_rendering(**entry: Any) -> None:
    """Enqueue the rendering for a changed entry (`source=`, `cuisine=`, `market=`); call it after the commit."""
    enqueue(render_restaurants, **entry)
