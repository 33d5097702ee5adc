"""Orders and dishes in the search of the dashboard."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from urllib.parse import urlencode

from django.db.models import Q
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.search import Hit, Source
from accounts.models import Venue
from accounts.onboarding_steps import build_venue_url
from accounts.tenancy.permissions import Access, Right
from framework.timezones import zone
from orders.dashboard.board import format_money
from orders.dashboard.orders import describe_badge
from orders.dashboard.reports import get_today
from orders.models import MenuItem, Order
from orders.search import MAX_DAYS, FilterForm


def find_order(access: Access, text: str) -> str | None:
    """Return the URL of the order with this id, or of the newest one of the last days with this number."""
    orders = Order.objects.of(access.venue)
    if number := re.fullmatch(r"#?([0-9]{1,9})", text):
        first = get_today(access.venue) - timedelta(days=MAX_DAYS - 1)
        orders = orders.filter(number=int(number[1]), business_date__gte=first).order_by("-business_date")
    else:
        orders = orders.with_public_id(text.lower())
    order = orders.only("pk").first()
    return build_venue_url("order", access, order=order.public_id) if order else None


def suggest_older_orders(access: Access, text: str) -> tuple[str, str]:
    """Return the link to the list of orders with this text, where one can choose earlier dates."""
    return _("Search older orders for “%(text)s”") % {
        "text": text
    }, f"{build_venue_url('orders', access)}?{urlencode({'text': text})}"


def list_hits(orders: Iterable[Order], access: Access) -> list[Hit]:
    hits = []
    for order in orders:
        badge, state = describe_badge(order)
        hits.append(
            Hit(
                _("Order %(number)s") % {"number": order.number},
                build_venue_url("order", access, order=order.public_id),
                describe_order(order, access.venue),
                state=state,
                badge=badge,
                amount=format_money(order.total, order.currency),
            )
        )
    return hits


def find_orders(access: Access, text: str, limit: int) -> list[Hit]:
    """Return the newest orders of the last days that the order list finds by this text."""
    venue = access.venue
    form = FilterForm({"text": text}, today=get_today(venue))
    if not form.is_valid():
        return []
    # Bounds the index of the newest orders; a business date differs from the date in UTC by a day at most.
    since = datetime.combine(form.cleaned_data["first"] - timedelta(days=1), time.min, UTC)
    orders = form.apply(Order.objects.of(venue).filter(created_at__gte=since))
    return list_hits(orders.with_items().newest_first()[:limit], access)


def describe_order(order: Order, venue: Venue) -> str:
    """Return whom to call, the first dish and when it was placed, of today without the date.

    `Ada · 2 x Tiramisu +1 more · 13:00`
    """
    lines = list(order.items.all())
    dishes = f"{lines[0].quantity} \N{MULTIPLICATION SIGN} {lines[0].name or lines[0].menu_item_id}" if lines else ""
    if len(lines) > 1:
        dishes += " " + _("+%(count)s more") % {"count": len(lines) - 1}
    placed_at, now = (each.astimezone(zone(venue.timezone)) for each in (order.created_at, venue.now()))
    moment = date_format(placed_at, "H:i" if placed_at.date() == now.date() else "SHORT_DATETIME_FORMAT")
    return " \N{MIDDLE DOT} ".join(filter(None, [order.contact_name or order.customer_id, dishes, moment]))


def find_dishes(access: Access, text: str, limit: int) -> list[Hit]:
    """Return the dishes whose name or id contains the text."""
    items = MenuItem.objects.filter(Q(name__icontains=text) | Q(ref__icontains=text), menu__venue=access.venue)
    menu = build_venue_url("menu", access)
    return [
        Hit(
            item.name,
            build_venue_url("menu-item", access, key=str(item.pk)) if access.may_view(Right.MENU) else menu,
            item.ref,
        )
        for item in items.order_by("name", "id")[:limit]
    ]


SOURCES = (
    Source(
        position=10,
        label=gettext_lazy("Orders"),
        rights=(Right.ORDERS,),
        find=find_orders,
        find_exact=find_order,
        list_page="orders",
        list_param="text",
        suggest=suggest_older_orders,
    ),
    Source(position=40, label=gettext_lazy("Dishes"), rights=(Right.MENU, Right.SOLD_OUT), find=find_dishes),
)
