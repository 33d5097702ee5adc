"""Tells the account of a wallet that an export of its has ended: by webhook, in the transaction of the end."""

from datetime import datetime

import orjson

from accounts.models import EventType
from accounts.webhooks import outbox
from catalogue.exports.requests import representation
from catalogue.models import Export
from catalogue.serializers.exports import ExportRecord
from framework.api.renderers import JSONRenderer
from payments.models import Wallet


def tell(export: Export, *, actor: str, now: datetime) -> None:
    """Write down that an export has succeeded, failed or been cancelled, with its record as the API answers it.

    Call it inside the transaction that has ended it, once its row says so: whoever ends it tells of it, and nobody
    else. Nothing is written for what staff ordered, nor for a wallet that is linked to no account. Four statements.
    """
    if export.wallet_id is None:
        return
    linked = Wallet.objects.filter(pk=export.wallet_id, account__isnull=False)
    account = linked.values_list("account", flat=True).first()
    if account is None:
        return
    export.refresh_from_db()
    shown = JSONRenderer().render(ExportRecord(representation.show(export, now=now)).data)
    outbox.record_account_event(
        account, EventType.EXPORT_FINISHED, record=orjson.loads(shown), subject=export.pk, actor=actor, now=now
    )
