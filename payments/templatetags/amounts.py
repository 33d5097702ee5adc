"""Filters that format amounts and addresses."""

from datetime import datetime
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from payments.chain import evm
from payments.formatting import format_amount
from payments.models import shorten_address

register = template.Library()
register.filter("short", shorten_address)
register.filter("capitals", evm.to_checksum_address)


@register.filter
def amount(number: Decimal | None) -> str:
    """Without trailing zeros: 0.004; a dash for None."""
    return format_amount(number, missing="-")


@register.filter
def dollars(number: Decimal) -> str:
    """To the cent, in groups of three: 1,250.00."""
    return f"{number:,.2f}"


@register.filter
def grouped(number: Decimal | int) -> str:
    """In groups of three, with at most two decimal places: 50,000."""
    return f"{Decimal(number):,.2f}".rstrip("0").rstrip(".")


@register.filter
def ago(moment: datetime) -> str:
    """The age in one unit: 3 hours ago."""
    since = timesince(moment, timezone.now(), depth=1)
    return _("just now") if since.startswith("0\xa0") else _("%(age)s ago") % {"age": since}
