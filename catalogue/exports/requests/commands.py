"""Commands on exports: create, cancel, restart."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from accounts.api_keys.authentication import MissingCredentials
from catalogue.exports.jobs import events
from catalogue.exports.requests import payment_state, spec
from catalogue.exports.requests.payment_state import PAYMENT_TIMEOUT
from catalogue.exports.requests.spec import ExportSpec
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart
from catalogue.models.exports import UNDER_WAY, UNFINISHED
from framework.errors import InvalidRequest
from payments.interface import Caller, Tier, TierRequired, job_queue
from payments.models import Wallet

Status = Export.Status
MAX_UNFINISHED = 3


class TooManyExports(InvalidRequest):
    """The wallet has reached its limit of unfinished exports."""


class ExportAlreadyRunning(InvalidRequest):
    """The wallet has an unfinished export with the same specification."""


class DeltaTooOld(InvalidRequest):
    """Removals since the start of the delta may have been deleted."""


def require_wallet(caller: Caller) -> str:
    """Return the wallet by which a caller orders exports. Raises MissingCredentials."""
    if caller.wallet is None:
        raise MissingCredentials(
            "An export is a wallet's: sign in by POST /v1/auth/session, then `Authorization: Bearer ws_...`,"
            " or link a wallet to the account of your API key (POST /v1/me/wallets). Nothing was charged."
        )
    return caller.wallet


def require_wallets(caller: Caller) -> Collection[str]:
    """Return the wallets whose exports a caller may see and cancel. Raises MissingCredentials.

    Any tier, and all wallets of an account: which of them orders changes with their tiers. Paid exports can be
    downloaded after the tier has fallen.
    """
    return caller.wallets | {require_wallet(caller)}


def require_tier(caller: Caller, needed: Tier) -> None:
    """Raise TierRequired for a wallet below the tier that exports are sold to."""
    if caller.tier < needed:
        raise TierRequired(
            f"Exports are for the {needed.name} tier, and this wallet is {caller.tier.name}. Nothing was charged.",
            terms=caller.terms,
            required=needed,
        )


def create_export(wallet: str | None, *, tier: Tier, now: datetime, **wishes: Any) -> Export:
    """Create an export without a payment, of a wallet or of staff; `wishes` are the arguments of parse_spec.

    An unfinished export with the same specification is returned instead. Call it outside of transactions, and enqueue
    a step then. Raises TooManyExports, and what parse_spec raises.
    """
    return queue_unpaid(wallet, spec.parse_spec(wallet and [wallet], now=now, **wishes), tier=tier, now=now)


def queue_unpaid(wallet: str | None, kind: ExportSpec, *, tier: Tier, now: datetime) -> Export:
    """The same with a parsed specification; an export that awaits its payment is queued without one."""
    export = find_or_create(wallet, kind, tier=tier, status=Status.QUEUED, now=now)
    if export.status == Status.AWAITING_PAYMENT:
        Export.objects.filter(pk=export.pk, status=Status.AWAITING_PAYMENT).update(status=Status.QUEUED)
        export.refresh_from_db()
    return export


def withdraw_order(export: Export) -> None:
    """Delete an order whose payment was refused, so that it does not count against the limit.

    It stays if it existed before, was ordered again since, or has a pending payment.
    """
    with transaction.atomic():
        Wallet.objects.select_for_update(no_key=True).get(pk=export.wallet_id)
        if not payment_state.list_pending(export).exists():
            # A repeated order changes `created_at` in the database, not on this instance.
            unchanged = Export.objects.filter(pk=export.pk, created_at=export.created_at, payment=None)
            unchanged.filter(status=Status.AWAITING_PAYMENT).delete()


def find_or_create(wallet: str | None, kind: ExportSpec, *, tier: Tier, status: str, now: datetime) -> Export:
    """Return the unfinished export with this specification, or create one with this status.

    Call withdraw_order if the payment of one that awaits it is refused.

    The wallet's row is locked, so that the limit holds. Staff have no limit; the unique constraint prevents
    duplicates. Raises TooManyExports.
    """
    try:
        with transaction.atomic():
            if wallet is not None:
                Wallet.objects.select_for_update(no_key=True).get(pk=wallet)
            found = find_unfinished(wallet, kind, now=now)
            if found is not None:
                if found.status == Status.AWAITING_PAYMENT:
                    # So withdraw_order of an earlier request leaves it.
                    Export.objects.filter(pk=found.pk, status=Status.AWAITING_PAYMENT).update(created_at=now)
                return found
            return Export.objects.create(
                wallet_id=wallet,
                dataset=kind.dataset,
                format=kind.format,
                filter=dict(kind.filter),
                fields=list(kind.fields),
                since_export=kind.since,
                fingerprint=kind.fingerprint,
                queue=job_queue(tier),
                status=status,
                created_at=now,
            )
    except IntegrityError:
        # Staff have no wallet to lock: another member has just created it.
        return Export.objects.unfinished().get(wallet=wallet, fingerprint=kind.fingerprint)


def find_unfinished(wallet: str | None, kind: ExportSpec, *, now: datetime) -> Export | None:
    """Return the unfinished export with this specification, or None. One query. Raises TooManyExports."""
    others = 0
    for export in Export.objects.filter(wallet=wallet).unfinished():
        if export.fingerprint == kind.fingerprint:
            return export
        # Expired orders do not count, whether or not they were cancelled yet.
        others += export.status in UNDER_WAY or export.created_at > now - PAYMENT_TIMEOUT
    if wallet is not None and others >= MAX_UNFINISHED:
        raise TooManyExports(
            f"This wallet has {others} unfinished exports: one of them has to end or be cancelled first."
        )
    return None


def cancel_export(export: Export, *, actor: str, now: datetime, expires_succeeded: bool = True) -> bool:
    """Cancel an export and delete its files; a succeeded one expires. False if it had ended without files.

    Without `expires_succeeded` one that has succeeded stays as it is, and the result is False.
    The payment of an unfinished export becomes refund due. The account is notified of an export that was queued or
    running, with `actor` as the cause.
    """
    row = Export.objects.filter(pk=export.pk)
    with transaction.atomic():
        status = row.select_for_update(no_key=True).get().status
        has_files = status in UNFINISHED or (status == Export.Status.SUCCEEDED and expires_succeeded)
        if status in UNFINISHED:
            row.update(status=Export.Status.CANCELLED, finished_at=now, snapshots=[])
            payment_state.refund_export(export, message=payment_state.CANCELLED, actor=actor)
        elif has_files:
            row.update(status=Export.Status.EXPIRED, expires_at=now)
        if status in UNDER_WAY:
            events.record_finished(export, actor=actor, now=now)
    if has_files:
        # The cleanup task deletes what a worker is writing at this moment.
        files.remove_all(export.public_id)
    return has_files


def restart_export(export: Export, *, actor: str = "system", now: datetime) -> bool:
    """Queue a failed export again, with a new snapshot; enqueue a step on commit. False if it has not failed.

    A payment that is refund due is earned again. Raises ExportAlreadyRunning, DeltaTooOld and PaymentRefunded.
    """
    if export.since_export is not None and spec.is_too_old(export.since_export, now=now):
        days = spec.MAX_DELTA_AGE.days
        raise DeltaTooOld(f"The export that it starts at is older than {days} days: order everything.")
    try:
        with transaction.atomic():
            failed = Export.objects.filter(pk=export.pk, status=Export.Status.FAILED)
            if not failed.update(
                status=Export.Status.QUEUED,
                error="",
                restarted_at=now,
                snapshot_at=None,
                finished_at=None,
                rows_total=None,
            ):
                return False
            payment_state.cancel_export_refund(export, actor=actor)
            # New rows, so that a worker that still writes an old part has lost its lease.
            ExportPart.objects.filter(export=export).delete()
            return True
    except IntegrityError as error:
        raise ExportAlreadyRunning("The wallet has an unfinished export with the same specification.") from error
