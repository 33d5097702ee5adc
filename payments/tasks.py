"""Celery tasks of payments."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from payments import retention
from payments.identity import sessions
from payments.ledger import chain_audit, reconcile, refunds


@shared_task(name="payments.tasks.reconcile_payments")
def reconcile_payments(**_: Any) -> None:
    reconcile.sweep(now=timezone.now())


@shared_task(name="payments.tasks.confirm_refunds")
def confirm_refunds(**_: Any) -> None:
    refunds.confirm_recorded(now=timezone.now())


@shared_task(name="payments.tasks.purge_sessions")
def purge_sessions(**_: Any) -> None:
    sessions.purge_expired_sessions(timezone.now())


@shared_task(name="payments.tasks.audit_payments", soft_time_limit=600, time_limit=660)
def audit_payments(**_: Any) -> None:
    chain_audit.run(now=timezone.now())


@shared_task(name="payments.tasks.purge_payments")
def purge_payments(**_: Any) -> None:
    retention.purge_expired(now=timezone.now())
