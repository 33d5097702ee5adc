"""Chain audits in the back office: the results of the daily comparison of ledger and chain."""

import re
from collections.abc import Sequence

from django.contrib import admin
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from framework import public_ids
from framework.admin.read_only import ReadOnlyAdmin
from payments.models import Audit, Payment
from payments.x402.receipts import PREFIX

PAYMENT_ID = re.compile(rf"^({PREFIX}_\w+)")
MAX_LINKS = 100


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    """Audits: transfers to our address compared with the ledger, by block range."""

    empty_hint = "The first audit runs at 05:07 UTC. “manage.py audit_payments” runs one now."
    list_display = ["__str__", "differing", "orphans", "arrived_usdc", "ledger_usdc", "transfers", "ended_at"]
    fields = [
        *("network", "pay_to", "first_block", "last_block", "ended_at"),
        *("transfers", "arrived_usdc", "ledger_usdc", "orphans", "owed_back", "what_differs"),
    ]
    ordering = ["-pk"]

    @admin.display(description="differences")
    def differing(self, audit: Audit) -> int:
        """The number of differences between ledger and chain."""
        return len(audit.differences)

    @admin.display(description="Unmatched transfers")
    def owed_back(self, audit: Audit) -> SafeString | str:
        """The payments created for unmatched transfers."""
        rows = list(orphans_of(audit)[:MAX_LINKS])
        return links([(row.pk, f"{row}, {row.get_state_display()}") for row in rows]) or "None"

    @admin.display(description="Differences")
    def what_differs(self, audit: Audit) -> SafeString | str:
        """The differences, with links to the payments."""
        lines = []
        for difference in audit.differences:
            payment_id = PAYMENT_ID.match(difference)
            lines.append((public_ids.decode(PREFIX, payment_id[1]) if payment_id else None, difference))
        return links(lines) or "None"


def orphans_of(audit: Audit) -> QuerySet[Payment]:
    """The payments in these blocks that no request claimed."""
    blocks = (audit.first_block, audit.last_block)
    mine = Payment.objects.filter(network=audit.network, pay_to=audit.pay_to, block__range=blocks)
    return mine.filter(resource="").order_by("block", "pk")


def links(lines: Sequence[tuple[object, str]]) -> SafeString:
    """Return the lines, linked to their payments if known."""
    return format_html_join(
        "",
        "<div>{}</div>",
        (
            (
                format_html('<a href="{}">{}</a>', reverse("admin:payments_payment_change", args=[key]), text)
                if key
                else text,
            )
            for key, text in lines
        ),
    )
