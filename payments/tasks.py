"""Celery tasks of payments."""

from typing import Any

from django.utils import timezone

from config.celery import app
from payments import reconcile, sessions


@app.task(name="payments.tasks.reconcile_payments")
def reconcile_payments(**_: Any) -> None:
    """Ask the chain what became of payments that were left open."""
    reconcile.sweep(now=timezone.now())


@app.task(name="payments.tasks.purge_sessions")
def purge_sessions(**_: Any) -> None:
    """Forget the sessions of wallets that are long over."""
    sessions.purge(timezone.now())
