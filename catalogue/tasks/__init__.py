"""Celery tasks of the catalogue. Celery finds what is imported here."""

from catalogue.tasks.exports import ring_for_export, sweep_exports, write_export
from catalogue.tasks.insights import refresh_insights, ring_for_insights
from catalogue.tasks.spans import refresh_open_spans, ring_for_open_spans

__all__ = [
    "refresh_insights",
    "refresh_open_spans",
    "ring_for_export",
    "ring_for_insights",
    "ring_for_open_spans",
    "sweep_exports",
    "write_export",
]
