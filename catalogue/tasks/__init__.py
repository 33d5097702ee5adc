"""Celery tasks of the catalogue. Celery finds what is imported here."""

from catalogue.tasks.exports import forget_removals, ring_for_export, sweep_exports, wake_exports, write_export
from catalogue.tasks.holidays import add_holidays
from catalogue.tasks.insights import refresh_insights, ring_for_demand, ring_for_insights
from catalogue.tasks.offers import lay_out_slots, release_seats, ring_for_slots
from catalogue.tasks.open_spans import refresh_open_spans, ring_for_open_spans
from catalogue.tasks.read_model import check_reading, publish_changes, rank_lists, render_again, ring_for_rendering
from catalogue.tasks.review_aggregates import recount_reviews

__all__ = [
    "add_holidays",
    "check_reading",
    "forget_removals",
    "lay_out_slots",
    "publish_changes",
    "rank_lists",
    "recount_reviews",
    "refresh_insights",
    "refresh_open_spans",
    "release_seats",
    "render_again",
    "ring_for_demand",
    "ring_for_export",
    "ring_for_insights",
    "ring_for_open_spans",
    "ring_for_rendering",
    "ring_for_slots",
    "sweep_exports",
    "wake_exports",
    "write_export",
]
