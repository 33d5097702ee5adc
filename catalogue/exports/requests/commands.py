"""Asking for an export, taking it back, and beginning it anew."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from accounts.api_keys.authentication import MissingCredentials
from catalogue.exports.jobs import events
from catalogue.exports.requests import payment_state, spec
from catalogue.exports.requests.payment_state import MOST_UNPAID
from catalogue.exports.requests.spec import Wanted
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart
from catalogue.models.exports import UNDER_WAY, UNFINISHED
from framework.errors import InvalidRequest
from payments.checkout import TierRequired
from payments.checkout.context import describe_upgrade
from payments.identity.caller import Caller
from payments.models import Wallet
from payments.tiers import terms
from payments.tiers.definitions import Tier

Status = Export.Status
MOST_UNFINISHED = 3


class TooManyExports(InvalidRequest):
    """The wallet has as many exports under way as it may have."""


class OneIsUnderWay(InvalidRequest):
    """The wallet has asked for the same again, and that one is not finished."""


class OutOfReach(InvalidRequest):
    """What is gone since the export that a delta begins at is not known any more."""


def owner(caller: Caller) -> str:
    """The wallet whose exports a caller may see and order. Raises MissingCredentials.

    Of any tier: what was paid for is fetched also when the tier has fallen meanwhile.
    """
    if caller.wallet is None:
        raise MissingCredentials(
            "An export is a wallet's: sign in by POST /v1/auth/session, then `Authorization: Bearer ws_...`,"
            " or link a wallet to the account of your API key (POST /v1/me/wallets). Nothing was charged."
        )
    return caller.wallet


def require_tier(caller: Caller, needed: Tier) -> None:
    """Refuse a wallet below the tier that exports are sold to. Raises TierRequired."""
    if caller.tier < needed:
        coming, rises = describe_upgrade(caller.terms)
        raise TierRequired(
            f"Exports are for the {needed.name} tier, and this wallet is {caller.tier.name}."
            f" Nothing was charged.{coming}",
            extra={"tier": caller.tier.name, "tier_required": needed.name, **rises},
        )


def start(wallet: str | None, *, tier: Tier, now: datetime, **wishes: Any) -> Export:
    """An export that nobody pays for, of a wallet or, without one, of staff; `wishes` are what wanted.read takes.

    The unfinished one of this very kind, made now unless it is there. Call it outside of a transaction, and enqueue
    it then. Raises TooManyExports, and what wanted.read raises.
    """
    return queued(wallet, spec.read(wallet, now=now, **wishes), tier=tier, now=now)


def queued(wallet: str | None, kind: Wanted, *, tier: Tier, now: datetime) -> Export:
    """The same, of a kind that was read; one that awaited its payment is queued without."""
    export = find_or_make(wallet, kind, tier=tier, status=Status.QUEUED, now=now)
    if export.status == Status.AWAITING_PAYMENT:
        Export.objects.filter(pk=export.pk, status=Status.AWAITING_PAYMENT).update(status=Status.QUEUED)
        export.refresh_from_db()
    return export


def awaiting(wallet: str, kind: Wanted, *, tier: Tier, now: datetime) -> Export:
    """The wallet's unfinished export of this kind, made now unless it is there: it is to be paid for.

    `withdraw` it where the payment is refused.
    """
    return find_or_make(wallet, kind, tier=tier, status=Status.AWAITING_PAYMENT, now=now)


def withdraw(export: Export) -> None:
    """Remove an order whose payment was refused, as `awaiting` has made it, so that it holds nobody up.

    It stays where it was there before, or was asked for again since, or money may be coming for it.
    """
    with transaction.atomic():
        Wallet.objects.select_for_update(no_key=True).get(pk=export.wallet_id)
        if not payment_state.coming(export).exists():
            # Whoever asks for it again moves `created_at`, and not on the row that they were given.
            mine = Export.objects.filter(pk=export.pk, created_at=export.created_at, payment=None)
            mine.filter(status=Status.AWAITING_PAYMENT).delete()


def find_or_make(wallet: str | None, kind: Wanted, *, tier: Tier, status: str, now: datetime) -> Export:
    """The unfinished export of this kind, made with this status unless it is there.

    The wallet's row is locked meanwhile, so that its exports are counted true. Staff may have any number, one of a
    kind: that is held by its constraint. Raises TooManyExports.
    """
    try:
        with transaction.atomic():
            if wallet is not None:
                Wallet.objects.select_for_update(no_key=True).get(pk=wallet)
            found = unfinished(wallet, kind, now=now)
            if found is not None:
                if found.status == Status.AWAITING_PAYMENT:
                    # So `withdraw` leaves it to whoever has asked last.
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
                queue=terms.job_queue(tier),
                status=status,
                created_at=now,
            )
    except IntegrityError:
        # Staff are not locked: another of them has made it at this instant.
        return Export.objects.unfinished().get(wallet=wallet, fingerprint=kind.fingerprint)


def unfinished(wallet: str | None, kind: Wanted, *, now: datetime) -> Export | None:
    """The unfinished export of this kind; None where one can be begun. One query. Raises TooManyExports."""
    others = 0
    for export in Export.objects.filter(wallet=wallet).unfinished():
        if export.fingerprint == kind.fingerprint:
            return export
        # What was left unpaid holds nobody up for longer, whether the sweeper has been there or not.
        others += export.status in UNDER_WAY or export.created_at > now - MOST_UNPAID
    if wallet is not None and others >= MOST_UNFINISHED:
        raise TooManyExports(
            f"This wallet has {others} exports under way: one of them has to end or be cancelled first."
        )
    return None


def cancel(export: Export, *, actor: str, now: datetime) -> bool:
    """Give the export up: workers stop, files go. False where it had already ended without files.

    One that has succeeded expires at once; what was paid for any other is owed back. Of one that workers had to do
    with the account of its wallet is told, with `actor` as who has done it.
    """
    row = Export.objects.filter(pk=export.pk)
    with transaction.atomic():
        was = row.select_for_update(no_key=True).get().status
        ended = was in UNFINISHED or was == Export.Status.SUCCEEDED
        if was in UNFINISHED:
            row.update(status=Export.Status.CANCELLED, finished_at=now, snapshots=[])
            payment_state.owe_back(export, words=payment_state.CANCELLED, actor=actor)
        elif ended:
            row.update(status=Export.Status.EXPIRED, expires_at=now)
        if was in UNDER_WAY:
            events.tell(export, actor=actor, now=now)
    if ended:
        # What a worker writes at this very moment is removed by the sweeper.
        files.remove_all(export.public_id)
    return ended


def restart(export: Export, *, actor: str = "system", now: datetime) -> bool:
    """Begin a failed export anew, of a moment of its own. False where it has not failed; enqueue a step on commit.

    What was paid for it and is owed back is ours again. Raises OneIsUnderWay where the wallet has asked for the same
    again, OutOfReach for a delta that would miss what is gone, and MoneyGone where its money was sent back.
    """
    if export.since_export is not None and spec.is_out_of_reach(export.since_export, now=now):
        days = spec.DELTAS_REACH.days
        raise OutOfReach(f"The export that it begins at is older than {days} days by now: order everything.")
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
            payment_state.take_again(export, actor=actor)
            # New rows, so that whoever still writes an old part holds nothing any more.
            ExportPart.objects.filter(export=export).delete()
            return True
    except IntegrityError as error:
        raise OneIsUnderWay("The wallet has asked for the same again, and that one is under way.") from error
