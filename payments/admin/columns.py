"""Columns and filters that the payments admin pages share."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from framework import public_ids
from framework.admin.read_only import ReadOnlyAdmin
from framework.admin.search import PublicIdSearch
from payments.formatting import format_amount
from payments.models import shorten_address
from payments.models.payments import PREFIX

Column = Callable[[Any, Any], Any]


class AddressSearch(PublicIdSearch):
    """Searches by addresses and hashes, which are stored in lower case."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return super().get_search_results(request, queryset, search_term.strip().lower())


class AddressSearchAdmin(AddressSearch, ReadOnlyAdmin):
    """A read-only admin that is searched by addresses and hashes."""


def column(
    field: str, description: str, render: Callable[[Any], object], *, ordering: str | None = None, empty: str = "-"
) -> Column:
    """Return a column with a field that `render` formats; `empty` without a value."""

    @admin.display(description=description, ordering=ordering, empty_value=empty)
    def show(self: Any, row: Any) -> object:
        value = getattr(row, field)
        # Not None: the page of a row would show the word.
        return "" if value in (None, "") else render(value)

    return show


def breakable_actor(actor: str) -> SafeString:
    """Return an actor such as staff:ada@example.com, with line break opportunities."""
    return format_html_join("", "{}<wbr>", ((part,) for part in re.split(r"(?<=[:@.])", actor)))


def report_changes(
    page: admin.ModelAdmin[Any], request: HttpRequest, changed: int, text: str, *, unchanged: int, reason: str
) -> None:
    """Show how many rows an action changed, and why it did not change the others."""
    page.message_user(request, f"{changed} {text}", messages.SUCCESS if changed else messages.ERROR)
    if unchanged:
        page.message_user(request, f"{unchanged} {reason}", messages.WARNING)


def payment_url(payment: Any) -> str:
    return reverse("admin:payments_payment_change", args=[payment])


def payment_link(payment: Any, *, exists: bool = True) -> SafeString:
    """Return a link to a payment with the end of its id: ids of the same time begin alike. Only text if it is gone."""
    public_id = public_ids.encode(PREFIX, payment)
    name = format_html('<span class="id" title="{}">…{}</span>', public_id, public_id[-6:])
    return format_html('<a href="{}">{}</a>', payment_url(payment), name) if exists else name


def short_with_title(text: str) -> SafeString:
    """Return a shortened address or hash, whose tooltip is the full text."""
    return format_html('<span class="id" title="{}">{}</span>', text, shorten_address(text))


def usdc(amount: Decimal) -> str:
    return f"{format_amount(amount)} USDC"


def breakable(code: str) -> str:
    """Return a code with spaces, so that a narrow column can wrap it."""
    return code.replace("_", " ")
