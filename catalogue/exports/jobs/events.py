"""The webhook event of a finished export."""

from datetime import datetime

import orjson

from accounts.models import EventType
from accounts.webhooks import outbox
from catalogue.exports.requests import representation
from catalogue.models import Export
from catalogue.serializers.exports import ExportRecord
from framework.api.renderers import JSONRenderer
from payments.models import Wallet


def record_finished(export: Export, *, actor: str, now: datetime) -> None:
    """Record the event that an export has succeeded, failed or been cancelled, with its API representation.

    Call it once, in the transaction that ends the export, after its row is updated. Nothing is recorded for an export
    of staff or of a wallet without an account. Four statements.
    """
    if export.wallet_id is None:
        return
    linked = Wallet.objects.filter(pk=export.wallet_id, account__isnull=False)
    account = linked.values_list("account", flat=True).first()
    if account is None:
        return
    export.refresh_from_db()
    record = JSONRenderer().render(ExportRecord(representation.represent_export(export, now=now)).data)
    outbox.record_account_event(
        account, EventType.EXPORT_FINISHED, record=orjson.loads(record), subject=export.pk, actor=actor, now=now
    )
