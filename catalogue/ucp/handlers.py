"""The payment handlers: USDC by x402, and paying at the venue."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.conf import settings

from accounts.models import Venue
from catalogue.agent_discovery import domain_names
from catalogue.ucp.protocol import VERSION
from framework.api.urls import public_url
from orders.ordering_page import links
from orders.ordering_page.checkout import AT_THE_COUNTER, list_payments
from payments.interface import Purchase, describe_challenge, payment_network

X402 = "x402"
PAY_AT_VENUE = "pay_at_venue"
SPEC = "/docs/ucp"
USDC_LABEL = "usdc"
# In reverse order: `com.example`, and no IP address.
DOMAIN = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+")


def namespace() -> str:
    """Return the domain of this installation in reverse order, the authority over the names of its handlers."""
    name = domain_names.namespace(domain_names.host())
    return name if DOMAIN.fullmatch(name) else "localhost.tablewire"


def describe_handlers(*, takes_usdc: bool, labels: Sequence[str], challenge: Any = None) -> dict[str, Any]:
    """Return the registry of handlers. `labels` are what guests pay with at the venue, `challenge` is of x402."""
    offered = {X402: ([X402], challenge or {"x402Version": 2})} if takes_usdc else {}
    offered[PAY_AT_VENUE] = (list(labels), {})
    return {
        f"{namespace()}.{name}": [
            {
                "id": name,
                "version": VERSION,
                "spec": f"{public_url(SPEC)}#{name.replace('_', '-')}",
                "available_instruments": [{"type": kind} for kind in instruments],
                "config": config,
            }
        ]
        for name, (instruments, config) in offered.items()
    }


def describe_profile_handlers() -> dict[str, Any]:
    """Return the handlers of this installation; each venue's are in its checkouts."""
    return describe_handlers(takes_usdc=bool(settings.PAY_TO), labels=list(AT_THE_COUNTER))


def describe_venue_handlers(venue: Venue, *, takes_usdc: bool, usdc: Decimal | None) -> dict[str, Any]:
    """Return the handlers of a venue; with an amount in USDC, what a wallet has to sign."""
    challenge = None
    if takes_usdc and usdc is not None:
        description = f"An order of {venue.name}."
        challenge = describe_challenge(
            purchase_of(venue, key=""), description=description, value=payment_network().to_atomic(usdc)
        )
    return describe_handlers(takes_usdc=takes_usdc, labels=list(list_payments(venue)), challenge=challenge)


def purchase_of(venue: Venue, *, key: str) -> Purchase:
    """Return what is paid for before the order is placed. The id of the session is a secret, so it is not named."""
    return Purchase(method="POST", url=links.page_url(venue), key=key)


def choose_label(venue: Venue, instrument: Mapping[str, Any] | None) -> str:
    """Return the payment label of an order that is paid with this instrument; of None what the venue lists first."""
    labels = list(list_payments(venue))
    if instrument is None:
        return labels[0]
    if instrument["handler_id"] == PAY_AT_VENUE:
        return str(instrument["type"])
    return USDC_LABEL if USDC_LABEL in (venue.payment_methods or [USDC_LABEL]) else labels[0]
