"""Addresses of the ordering page, and signed links with which guests see their order."""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode, NotFound
from framework.signed_tokens import BadSignature, TokenSigner
from orders.models import Order

# From the end of an order on.
LIFETIME = timedelta(days=30)
SIGNER = TokenSigner("orders.ordering_page.order", separator="~")


class InvalidLink(NotFound):
    """There is no such venue, it has closed its ordering page, or the token is not signed by this installation."""


class LinkExpired(ApiError):
    """The order was handed over or cancelled too long ago."""

    code = ErrorCode.GONE


def page_url(venue: Venue, *, table: str = "") -> str:
    """Return the absolute URL of the ordering page."""
    query = f"?{urlencode({'table': table})}" if table else ""
    return f"{settings.PUBLIC_BASE_URL.rstrip('/')}{reverse('ordering', kwargs={'venue': venue.public_id})}{query}"


def token_of(order_id: str) -> str:
    """Return the token of a guest's link: the signed public id."""
    return SIGNER.sign(order_id)


def find(token: str, *, venue: Venue, now: datetime) -> Order:
    """Return the order of a token with its lines. Two queries for a valid signature.

    Raises InvalidLink, and LinkExpired for an order that ended LIFETIME ago.
    """
    try:
        orders = Order.objects.of(venue).with_public_id(SIGNER.unsign(token))
    except BadSignature as error:
        raise InvalidLink from error
    order = orders.with_items().first()
    if order is None:
        raise InvalidLink
    ended_at = order.completed_at or order.cancelled_at
    if ended_at is not None and ended_at < now - LIFETIME:
        raise LinkExpired("This link has expired.")
    return order
