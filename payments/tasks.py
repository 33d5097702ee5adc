"""Celery tasks of payments."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from payments import retention
from payments.identity import sessions
from payments.ledger import chain_audit, reconcile, refunds


@shared_task(name="payments.tasks.reconcile_payments")
def reconcile_payments(**_: Any) -> None:
    """Ask the chain what became of payments that were left open."""
    reconcile.sweep(now=timezone.now())


@shared_task(name="payments.tasks.confirm_refunds")
def confirm_refunds(**_: Any) -> None:
    """Look on the chain for what staff have noted as sent back."""
    refunds.confirm_noted(now=timezone.now())


@shared_task(name="payments.tasks.purge_sessions")
def purge_sessions(**_: Any) -> None:
    """Forget the sessions of wallets that are long over."""
    sessions.purge(timezone.now())


@shared_task(name="payments.tasks.audit_payments", soft_time_limit=600, time_limit=660)
def audit_payments(**_: Any) -> None:
    """Hold the ledger against the chain, up to the blocks of half an hour ago."""
    chain_audit.run(now=timezone.now())


@shared_task(name="payments.tasks.purge_payments")
def purge_payments(**_: Any) -> None:
    """Forget what was kept for long enough: snapshots, spent challenges, events of payments that were let go."""
    retention.purge(now=timezone.now())
