"""Where staff see what the daily comparison of ledger and chain has found."""

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

NAMED = re.compile(rf"^({PREFIX}_\w+)")
MOST_LINKS = 100


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    """What has arrived at our address, block by block, against the ledger."""

    nothing_yet = "The first audit comes at 05:07 UTC; “manage.py audit_payments” makes one now."
    list_display = ["__str__", "differing", "orphans", "arrived_usdc", "booked_usdc", "transfers", "ended_at"]
    fields = [
        *("network", "pay_to", "first_block", "last_block", "ended_at"),
        *("transfers", "arrived_usdc", "booked_usdc", "orphans", "owed_back", "what_differs"),
    ]
    ordering = ["-pk"]

    @admin.display(description="differences")
    def differing(self, audit: Audit) -> int:
        """How many lines are not what the chain shows."""
        return len(audit.differences)

    @admin.display(description="Money that bought nothing")
    def owed_back(self, audit: Audit) -> SafeString | str:
        """The lines that were made of it."""
        rows = list(orphans_of(audit)[:MOST_LINKS])
        return links([(row.pk, f"{row}, {row.get_state_display()}") for row in rows]) or "None"

    @admin.display(description="Differences")
    def what_differs(self, audit: Audit) -> SafeString | str:
        """Each with a link to its payment."""
        told = []
        for said in audit.differences:
            named = NAMED.match(said)
            told.append((public_ids.decode(PREFIX, named[1]) if named else None, said))
        return links(told) or "None"


def orphans_of(audit: Audit) -> QuerySet[Payment]:
    """The payments of these blocks that nobody had claimed."""
    blocks = (audit.first_block, audit.last_block)
    mine = Payment.objects.filter(network=audit.network, pay_to=audit.pay_to, block__range=blocks)
    return mine.filter(resource="").order_by("block", "pk")


def links(told: Sequence[tuple[object, str]]) -> SafeString:
    """Lines that lead to their payments, where these are known."""
    return format_html_join(
        "",
        "<div>{}</div>",
        (
            (
                format_html('<a href="{}">{}</a>', reverse("admin:payments_payment_change", args=[key]), words)
                if key
                else words,
            )
            for key, words in told
        ),
    )
