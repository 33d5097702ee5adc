"""Asking for an export, taking it back, and beginning it anew."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime

from django.db import IntegrityError, transaction

from accounts.authentication import MissingCredentials
from catalogue.exports import files, telling
from catalogue.models import Export, ExportPart, Market
from catalogue.models.exports import UNDER_WAY, UNFINISHED
from config.api.refusal import InvalidRequest, unknown
from payments import terms
from payments.callers import Caller
from payments.gate import TierRequired
from payments.gate.sale import rising
from payments.models import Wallet
from payments.tiers import ENTERPRISE, Tier

MOST_UNFINISHED = 3


class TooManyExports(InvalidRequest):
    """The wallet has as many exports under way as it may have."""


class OneIsUnderWay(InvalidRequest):
    """The wallet has asked for the same again, and that one is not finished."""


def exporter(caller: Caller) -> str:
    """The wallet of a caller who may export. Raises MissingCredentials and TierRequired."""
    if caller.wallet is None:
        raise MissingCredentials(
            "An export is a wallet's: sign in by POST /v1/auth/session, then `Authorization: Bearer ws_...`,"
            " or link a wallet to the account of your API key (POST /v1/me/wallets)."
        )
    if caller.tier < ENTERPRISE:
        coming, rises = rising(caller.terms)
        raise TierRequired(
            f"Exports are for the {ENTERPRISE.name} tier, and this wallet is {caller.tier.name}."
            f" Nothing was charged.{coming}",
            extra={"tier": caller.tier.name, "tier_required": ENTERPRISE.name, **rises},
        )
    return caller.wallet


def start(
    wallet: str,
    *,
    tier: Tier,
    dataset: str,
    format: str,  # noqa: A002  # the word of the contract
    filter: Mapping[str, str],  # noqa: A002  # the word of the contract
    now: datetime,
) -> Export:
    """The wallet's unfinished export of this very kind, made now unless it is there.

    Call it outside of a transaction, and ring for it then. The wallet's row is locked meanwhile, so that its exports
    are counted true. Raises TooManyExports, and InvalidRequest for a market that there is not.
    """
    market = filter.get("market")
    if market is not None and not Market.objects.filter(pk=market).exists():
        markets = list(Market.objects.order_by("slug").values_list("slug", flat=True))
        raise InvalidRequest(unknown("market", market, markets).message, param="filter.market")
    kind = json.dumps([dataset, format, dict(filter)], sort_keys=True)
    fingerprint = hashlib.sha256(kind.encode()).hexdigest()
    with transaction.atomic():
        Wallet.objects.select_for_update(no_key=True).get(pk=wallet)
        unfinished = list(Export.objects.of(wallet).unfinished())
        for export in unfinished:
            if export.fingerprint == fingerprint:
                return export
        if len(unfinished) >= MOST_UNFINISHED:
            raise TooManyExports(
                f"This wallet has {len(unfinished)} exports under way: one of them has to end or be cancelled first."
            )
        return Export.objects.create(
            wallet_id=wallet,
            dataset=dataset,
            format=format,
            filter=dict(filter),
            fingerprint=fingerprint,
            queue=terms.queue_of(tier),
            created_at=now,
        )


def cancel(export: Export, *, actor: str, now: datetime) -> bool:
    """Give the export up: workers stop, files go. False where it had already ended without files.

    One that has succeeded expires at once. Of one that workers had to do with the account of its wallet is told, with
    `actor` as who has done it.
    """
    row = Export.objects.filter(pk=export.pk)
    with transaction.atomic():
        was = row.select_for_update(no_key=True).get().status
        ended = was in UNFINISHED or was == Export.Status.SUCCEEDED
        if was in UNFINISHED:
            row.update(status=Export.Status.CANCELLED, finished_at=now)
        elif ended:
            row.update(status=Export.Status.EXPIRED, expires_at=now)
        if was in UNDER_WAY:
            telling.tell(export, actor=actor, now=now)
    if ended:
        # What a worker writes at this very moment is removed by the sweeper.
        files.remove_all(export.public_id)
    return ended


def restart(export: Export) -> bool:
    """Begin a failed export anew, of a moment of its own. False where it has not failed; ring for it after the commit.

    Raises OneIsUnderWay where the wallet has asked for the same again.
    """
    try:
        with transaction.atomic():
            failed = Export.objects.filter(pk=export.pk, status=Export.Status.FAILED)
            if not failed.update(
                status=Export.Status.QUEUED, error="", snapshot_at=None, finished_at=None, rows_total=None
            ):
                return False
            # New rows, so that whoever still writes an old part holds nothing any more.
            ExportPart.objects.filter(export=export).delete()
            return True
    except IntegrityError as error:
        raise OneIsUnderWay("The wallet has asked for the same again, and that one is under way.") from error
