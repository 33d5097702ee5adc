"""Celery tasks of payments."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from payments import retention
from payments.identity import sessions
from payments.ledger import chain_audit, reconcile, refunds


@shared_task(name="payments.tasks.reconcile_payments")
def reconcile_payments(**_: Any) -> None:
    """Check open payments on the chain."""
    reconcile.sweep(now=timezone.now())


@shared_task(name="payments.tasks.confirm_refunds")
def confirm_refunds(**_: Any) -> None:
    """Check recorded refunds on the chain."""
    refunds.confirm_recorded(now=timezone.now())


@shared_task(name="payments.tasks.purge_sessions")
def purge_sessions(**_: Any) -> None:
    """Delete expired wallet sessions."""
    sessions.purge_expired_sessions(timezone.now())


@shared_task(name="payments.tasks.audit_payments", soft_time_limit=600, time_limit=660)
def audit_payments(**_: Any) -> None:
    """Compare the ledger with the chain, up to the blocks of half an hour ago."""
    chain_audit.run(now=timezone.now())


@shared_task(name="payments.tasks.purge_payments")
def purge_payments(**_: Any) -> None:
    """Delete old snapshots, spent challenges, and events of released payments."""
    retention.purge_expired(now=timezone.now())
