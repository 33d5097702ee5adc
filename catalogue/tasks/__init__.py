"""Celery tasks of the catalogue. Celery finds what is imported here."""

from catalogue.tasks.exports import enqueue_export_step, forget_removals, sweep_exports, wake_exports, write_export
from catalogue.tasks.holidays import add_holidays
from catalogue.tasks.insights import enqueue_demanded_insights, enqueue_insights, refresh_insights
from catalogue.tasks.offers import enqueue_slot_layout, lay_out_slots, release_seats
from catalogue.tasks.open_spans import enqueue_open_spans, refresh_open_spans
from catalogue.tasks.read_model import check_reading, enqueue_rendering, publish_changes, rank_lists, render_again
from catalogue.tasks.review_aggregates import recount_reviews

__all__ = [
    "add_holidays",
    "check_reading",
    "enqueue_demanded_insights",
    "enqueue_export_step",
    "enqueue_insights",
    "enqueue_open_spans",
    "enqueue_rendering",
    "enqueue_slot_layout",
    "forget_removals",
    "lay_out_slots",
    "publish_changes",
    "rank_lists",
    "recount_reviews",
    "refresh_insights",
    "refresh_open_spans",
    "release_seats",
    "render_again",
    "sweep_exports",
    "wake_exports",
    "write_export",
]
