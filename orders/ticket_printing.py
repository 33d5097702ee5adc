"""Kitchen tickets on the network printers of venues, by ESC/POS."""

import logging
import socket
from collections import defaultdict
from datetime import datetime, timedelta
from ipaddress import ip_address
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from accounts.models import Venue
from framework.db.locks import AdvisoryLock
from framework.resilience.circuit_breaker import CircuitBreaker
from orders.models import Fulfilment, Order, OrderingSettings, Orders

logger = logging.getLogger("tablewire.worker")

LOCK = AdvisoryLock("ticket printing")
# A ticket that could not be printed for so long is of no use to the kitchen.
MAX_AGE = timedelta(hours=2)
MAX_TICKETS = 50
TIMEOUT_S = 2
# Printers have no characters of these languages.
UNPRINTABLE_LANGUAGES = ("ja",)
# By address and port: a printer that is away takes little of the workers' time.
breakers: defaultdict[tuple[str, int], CircuitBreaker] = defaultdict(
    lambda: CircuitBreaker("a ticket printer", fallback="its tickets wait", recovery_s=15)
)


def is_allowed(address: str) -> bool:
    """Whether the operator of this installation lets venues print to this address (PRINTER_NETWORKS)."""
    return any(ip_address(address) in network for network in settings.PRINTER_NETWORKS)


def _orders_to_print(*, now: datetime) -> Orders:
    return Order.objects.filter(status=Order.Status.PENDING, ticket_printed_at=None, created_at__gt=now - MAX_AGE)


def find_venues_to_print(*, now: datetime) -> list[UUID]:
    """Return the keys of the venues with a printer and orders to print. One query."""
    has_orders = Exists(_orders_to_print(now=now).filter(venue=OuterRef("venue")))
    venues = OrderingSettings.objects.filter(has_orders, printer_address__isnull=False)
    return list(venues.values_list("venue", flat=True))


def print_tickets(venue: UUID, *, now: datetime) -> None:
    """Print a ticket for each new order of the venue. Does nothing while another run prints on the same printer.

    A printer that is away costs TIMEOUT_S; it is tried again after some seconds, up to MAX_AGE after the order.
    """
    venue_settings = OrderingSettings.objects.select_related("venue").get(venue=venue)
    printer = str(venue_settings.printer_address), venue_settings.printer_port
    if not venue_settings.printer_address or not is_allowed(printer[0]):
        return
    with LOCK.session(printer) as is_mine:
        orders = (
            _orders_to_print(now=now)
            .of(venue_settings.venue)
            .with_due_at(venue_settings.prep)
            .with_items()
            .order_by("created_at", "id")[:MAX_TICKETS]
        )
        breaker = breakers[printer]
        if not is_mine or not orders or not breaker.allow_request():
            return
        try:
            with socket.create_connection(printer, timeout=TIMEOUT_S) as connection:
                for order in orders:
                    ticket = build_ticket(order, venue_settings.venue)
                    # Marked before it is sent: a ticket that may have been printed is not printed again.
                    if Order.objects.filter(pk=order.pk, ticket_printed_at=None).update(ticket_printed_at=now):
                        connection.sendall(ticket)
        except OSError as error:
            breaker.record_failure(error)
            logger.warning("the ticket printer of venue %s failed: %s", venue_settings.venue.public_id, error)
        else:
            breaker.record_success()


def build_ticket(order: Order, venue: Venue) -> bytes:
    """Return the ticket in ESC/POS, in the venue's language if the printer has its characters, else in English.

    Other characters that the printer does not have become question marks.
    """
    with translation.override(settings.LANGUAGE_CODE if venue.language in UNPRINTABLE_LANGUAGES else venue.language):
        return _build_ticket(order, ZoneInfo(venue.timezone))


def _build_ticket(order: Order, zone: ZoneInfo) -> bytes:
    # Slow to import, and only installed with the extra `printing`.
    from escpos.printer import Dummy

    ticket = Dummy()
    ticket.hw("INIT")
    ticket.set(bold=True, double_width=True, double_height=True)
    ticket.textln(_("Order %(number)s") % {"number": order.number})
    due_at, placed_at = order.due_at.astimezone(zone), order.created_at.astimezone(zone)
    due = f"{due_at:%H:%M}" if due_at.date() == placed_at.date() else f"{due_at:%Y-%m-%d %H:%M}"
    ticket.textln(_("Due %(time)s") % {"time": due})
    if order.table:
        ticket.textln(_("Table %(table)s") % {"table": clean(order.table)})
    ticket.set(bold=False, normal_textsize=True)
    ticket.textln(name_fulfilment(order))
    ticket.textln(_("Placed %(time)s") % {"time": f"{placed_at:%Y-%m-%d %H:%M}"})
    ticket.ln()
    for line in order.items.all():
        ticket.set(bold=True, double_height=True)
        ticket.textln(f"{line.quantity} x {clean(line.name or line.menu_item_id)}")
        ticket.set(bold=False, normal_textsize=True)
        for name in line.modifier_names:
            ticket.textln(f"  + {clean(name)}")
        for note in line.notes.splitlines():
            ticket.textln(f"  > {clean(note)}")
    ticket.ln()
    for text in (order.delivery_address or "").splitlines():
        ticket.textln(clean(text))
    payment = pgettext("order", "PAID") if order.payment_state == Order.PaymentState.PAID else order.payment_method
    ticket.textln(clean(f"{order.contact_name or order.customer_id}, {payment}"))
    ticket.cut()
    output: bytes = ticket.output
    return output


def name_fulfilment(order: Order) -> str:
    """Return how the order leaves the kitchen."""
    match order.fulfilment:
        case Fulfilment.DINE_IN:
            return pgettext("order", "DINE-IN")
        case Fulfilment.DELIVERY:
            return pgettext("order", "DELIVERY")
        case _:
            return pgettext("order", "PICK-UP")


def clean(text: str) -> str:
    """Replace control characters: a guest's text gives the printer no commands."""
    return "".join(character if character.isprintable() else " " for character in text)
