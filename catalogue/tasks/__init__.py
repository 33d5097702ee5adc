"""Celery tasks of the catalogue; Celery discovers the tasks imported here."""

from catalogue.tasks.exports import (
    clean_up_exports,
    delete_expired_removals,
    enqueue_export_step,
    enqueue_stalled_exports,
    write_export,
)
from catalogue.tasks.holidays import add_holidays
from catalogue.tasks.insights import enqueue_demanded_insights, enqueue_insights, refresh_insights
from catalogue.tasks.offers import enqueue_slot_generation, generate_slots, release_seats
from catalogue.tasks.open_intervals import enqueue_open_intervals, refresh_open_intervals
from catalogue.tasks.read_model import (
    enqueue_rendering,
    publish_changes,
    refresh_ranks,
    render_restaurants,
    repair_read_model,
)
from catalogue.tasks.review_aggregates import recount_reviews

__all__ = [
    "add_holidays",
    "clean_up_exports",
    "delete_expired_removals",
    "enqueue_demanded_insights",
    "enqueue_export_step",
    "enqueue_insights",
    "enqueue_open_intervals",
    "enqueue_rendering",
    "enqueue_slot_generation",
    "enqueue_stalled_exports",
    "generate_slots",
    "publish_changes",
    "recount_reviews",
    "refresh_insights",
    "refresh_open_intervals",
    "refresh_ranks",
    "release_seats",
    "render_restaurants",
    "repair_read_model",
    "write_export",
]
