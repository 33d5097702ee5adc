"""The admin of chain audits: the results of the daily comparison of ledger and chain."""

import re
from collections.abc import Sequence

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from framework import public_ids
from framework.admin.read_only import ReadOnlyAdmin
from payments.admin.columns import payment_url
from payments.models import Audit, Payment
from payments.models.payments import PREFIX

PAYMENT_ID = re.compile(rf"^({PREFIX}_\w+)")
MAX_LINKS = 100


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    empty_hint = "The first audit runs at 05:07 UTC. “manage.py audit_payments” runs one now."
    list_display = ["__str__", "difference_count", "orphans", "arrived_usdc", "ledger_usdc", "transfers", "ended_at"]
    fields = [
        *("network", "pay_to", "first_block", "last_block", "ended_at"),
        *("transfers", "arrived_usdc", "ledger_usdc", "orphans", "unmatched_transfers", "difference_list"),
    ]
    ordering = ["-pk"]

    @admin.display(description="differences")
    def difference_count(self, audit: Audit) -> int:
        return len(audit.differences)

    @admin.display(description="Unmatched transfers")
    def unmatched_transfers(self, audit: Audit) -> SafeString | str:
        payments = Payment.objects.filter(
            network=audit.network, pay_to=audit.pay_to, block__range=(audit.first_block, audit.last_block), resource=""
        ).order_by("block", "pk")
        return links([(row.pk, f"{row}, {row.get_state_display()}") for row in payments[:MAX_LINKS]]) or "None"

    @admin.display(description="Differences")
    def difference_list(self, audit: Audit) -> SafeString | str:
        lines = []
        for difference in audit.differences:
            payment_id = PAYMENT_ID.match(difference)
            lines.append((public_ids.decode(PREFIX, payment_id[1]) if payment_id else None, difference))
        return links(lines) or "None"


def links(lines: Sequence[tuple[object, str]]) -> SafeString:
    """Return the lines; those with the primary key of a payment link to it."""
    return format_html_join(
        "",
        "<div>{}</div>",
        ((format_html('<a href="{}">{}</a>', payment_url(key), text) if key else text,) for key, text in lines),
    )
