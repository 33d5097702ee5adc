"""The checkout as the protocol writes it.

A line has `dish`, of the food draft, and `item`, of the models that are released; for the same reason `order` has a
`tracking_url` and a `permalink_url`. Amounts are in minor units of the currency, and the entries of `totals` before
`total` sum up to it.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.urls import reverse

from accounts.models import Venue
from catalogue.ucp import handlers
from catalogue.ucp.negotiation import Agent
from catalogue.ucp.protocol import FULFILLMENT, VERSION, Message, describe_capabilities
from catalogue.ucp.sessions import Assessment, list_tip_options
from framework.api.pagination.schema import format_datetime
from framework.api.urls import public_url
from orders.models import ChargeRule, CheckoutSession, Fulfilment, Order, OrderItem
from orders.ordering_page import links
from orders.ordering_page.online_orders import find_usdc_price
from orders.pricing import get_decimals

State = CheckoutSession.State
PICKUP = "method_pickup"


def to_minor(amount: Decimal | None, currency: str) -> int:
    """Return the amount in minor units of the currency; 0 for one that is not known."""
    return 0 if amount is None else int(amount.scaleb(get_decimals(currency)))


def build_checkout(assessment: Assessment, agent: Agent, *, messages: Sequence[Message] = ()) -> dict[str, Any]:
    """Return an open or canceled session; `messages` come before its own."""
    session, venue, now = assessment.session, assessment.venue, assessment.now
    is_over = session.is_over(now)
    status = "canceled" if is_over else "ready_for_complete" if assessment.is_ready else "incomplete"
    told = [*messages, *([] if is_over else assessment.messages)]
    buyer = assessment.content.get("buyer")
    # A wallet signs what is ready. An order that costs nothing is not paid in USDC.
    takes_usdc = assessment.usdc is not None
    usdc = assessment.usdc if status == "ready_for_complete" else None
    return {
        "ucp": build_metadata(venue, agent, takes_usdc=takes_usdc, usdc=usdc),
        **describe_session(session, status=status),
        **({"buyer": buyer} if buyer else {}),
        "line_items": describe_lines(list(assessment.order.items.all()), venue.currency),
        "tip": {"options": list_tip_options(), **assessment.content.get("tip", {})},
        "totals": describe_totals(assessment.order, venue, tip=assessment.tip),
        **({"messages": told} if told else {}),
        **({} if is_over else describe_next(assessment, agent)),
    }


def describe_next(assessment: Assessment, agent: Agent) -> dict[str, Any]:
    """Return what the agent and the guest can do with an open session."""
    times = {"fulfillment": describe_fulfillment(assessment)} if FULFILLMENT in agent.capabilities else {}
    return {**times, "continue_url": links.page_url(assessment.venue)}


def build_placed(session: CheckoutSession, order: Order, agent: Agent) -> dict[str, Any]:
    """Return a session whose order is placed: completed, or with a payment that is being settled."""
    venue = session.venue
    order.venue = venue
    is_completed = session.state == State.COMPLETED
    name = {"first_name": order.contact_name, "phone_number": order.contact_phone, "email": order.contact_email}
    buyer = {key: value for key, value in name.items() if value}
    takes_usdc = find_usdc_price(venue.ordering_settings) is not None
    instrument = session.content.get("instrument")
    return {
        "ucp": build_metadata(venue, agent, takes_usdc=takes_usdc, usdc=None),
        **describe_session(session, status="completed" if is_completed else "complete_in_progress"),
        **({"buyer": buyer} if buyer else {}),
        "line_items": describe_lines(list(order.items.all()), order.currency),
        "totals": describe_totals(order, venue, tip=order.tip or Decimal(0)),
        **({"payment": {"instruments": [instrument | {"selected": True}]}} if instrument else {}),
        **({"order": confirm_order(order)} if is_completed else {"continue_url": links.page_url(venue)}),
    }


def build_metadata(venue: Venue, agent: Agent, *, takes_usdc: bool, usdc: Decimal | None) -> dict[str, Any]:
    return {
        "version": VERSION,
        "status": "success",
        "capabilities": describe_capabilities(agent.capabilities),
        "payment_handlers": handlers.describe_venue_handlers(venue, takes_usdc=takes_usdc, usdc=usdc),
    }


def describe_session(session: CheckoutSession, *, status: str) -> dict[str, Any]:
    return {
        "id": session.public_id,
        "status": status,
        "currency": session.venue.currency,
        "food_establishment": describe_establishment(session.venue),
        "links": [
            {"type": "privacy_policy", "url": public_url("/privacy")},
            {"type": "terms_of_service", "url": public_url("/terms")},
        ],
        "expires_at": format_datetime(session.expires_at),
    }


def describe_establishment(venue: Venue) -> dict[str, Any]:
    address = {"address": {"street_address": venue.address}} if venue.address else {}
    return {"id": venue.public_id, "name": venue.name, **address}


def describe_lines(lines: Sequence[OrderItem], currency: str) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(lines):
        modifiers = [(each, to_minor(Decimal(each["price"] or 0), currency)) for each in line.all_modifiers]
        unit_price = to_minor(line.unit_price, currency)
        price = unit_price - sum(amount for _modifier, amount in modifiers)
        dish = {
            "id": line.menu_item_id,
            "title": line.name or line.menu_item_id,
            "price": price,
            # A price is never negative: what a modification takes off is a discount of the line.
            "modifications": [
                {"id": each["id"], "title": each["name"] or each["id"], "price": max(amount, 0)}
                for each, amount in modifiers
            ],
            **({"note": line.notes} if line.notes else {}),
        }
        found.append(
            {
                "id": f"li_{number + 1}",
                "quantity": line.quantity,
                "dish": dish,
                "item": {"id": line.menu_item_id, "title": dish["title"], "price": unit_price},
                "totals": describe_line_totals(line, modifiers, currency),
            }
        )
    return found


def describe_line_totals(line: OrderItem, modifiers: Sequence[tuple[Any, int]], currency: str) -> list[dict[str, Any]]:
    total = to_minor(line.line_total, currency)
    discount = sum(min(amount, 0) for _modifier, amount in modifiers) * line.quantity
    return [
        {"type": "subtotal", "amount": total - discount},
        *([{"type": "items_discount", "amount": discount}] if discount else []),
        {"type": "total", "amount": total},
    ]


def describe_totals(order: Order, venue: Venue, *, tip: Decimal) -> list[dict[str, Any]]:
    """Return the totals of an order; of its lines if a dish has no price."""
    currency = venue.currency
    lines = list(order.items.all())
    goods = sum(to_minor(line.line_total, currency) for line in lines)
    discount = sum(
        to_minor(min(Decimal(each["price"] or 0), Decimal(0)), currency) * line.quantity
        for line in lines
        for each in line.all_modifiers
    )
    entries = [("subtotal", "Subtotal", goods - discount)]
    if discount:
        entries.append(("items_discount", "Discount", discount))
    for charge in order.charges:
        kind = "fulfillment" if charge["type"] == ChargeRule.Type.DELIVERY_FEE else "fee"
        entries.append((kind, charge["name"], to_minor(Decimal(charge["amount"]), currency)))
    if not venue.prices_include_tax and order.tax:
        entries.append(("tax", "Tax", to_minor(order.tax, currency)))
    if tip:
        entries.append(("tip", "Tip", to_minor(tip, currency)))
    label = "Total, with tax" if venue.prices_include_tax else "Total"
    entries.append(("total", label, sum(amount for _kind, _text, amount in entries)))
    return [{"type": kind, "display_text": text, "amount": amount} for kind, text, amount in entries]


def describe_fulfillment(assessment: Assessment) -> dict[str, Any]:
    earliest, later = assessment.times
    day = "now" if earliest else f"{later[0].date()}" if later else None
    available = {"type": Fulfilment.PICKUP.value, **({"fulfillable_on": day} if day else {})}
    if not assessment.is_pickup:
        return {"available_methods": [available]}
    options, selected = assessment.list_options()
    requested = assessment.content.get("requested_at")
    method: dict[str, Any] = {
        "id": PICKUP,
        "type": Fulfilment.PICKUP.value,
        "destination": {"type": "business_location", **describe_establishment(assessment.venue)},
        **({"requested_fulfillment_time": requested} if requested else {}),
        **({"selected_option_id": selected} if selected else {}),
        "options": options,
    }
    return {"available_methods": [available], "methods": [method]}


def confirm_order(order: Order) -> dict[str, Any]:
    """Return the id of an order, what to call at the counter, and the guest's page of it."""
    token = links.token_of(order.public_id)
    url = public_url(reverse("ordering-placed", kwargs={"venue": order.venue.public_id, "token": token}))
    return {"id": order.public_id, "label": f"#{order.number}", "tracking_url": url, "permalink_url": url}


def build_error(messages: Sequence[Message], *, continue_url: str | None = None) -> dict[str, Any]:
    """Return the answer where there is no checkout."""
    return {
        "ucp": {"version": VERSION, "status": "error", "payment_handlers": {}},
        "messages": list(messages),
        **({"continue_url": continue_url} if continue_url else {}),
    }
