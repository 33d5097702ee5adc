"""Enqueueing Celery tasks."""
