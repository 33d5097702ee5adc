"""Kitchen tickets on the network printers of venues, by ESC/POS."""

import logging
import socket
from datetime import datetime, timedelta
from ipaddress import ip_address
from zoneinfo import ZoneInfo

from django.conf import settings

from framework.db.locks import AdvisoryLock
from orders.models import Order, OrderingSettings

logger = logging.getLogger("tablewire.worker")

LOCK = AdvisoryLock("ticket printing")
# A ticket that could not be printed for so long is of no use to the kitchen.
MAX_AGE = timedelta(hours=2)
MAX_TICKETS = 50
TIMEOUT_S = 2


def is_allowed(address: str) -> bool:
    """Whether the operator of this installation lets venues print to this address (PRINTER_NETWORKS)."""
    return any(ip_address(address) in network for network in settings.PRINTER_NETWORKS)


def print_new_tickets(*, now: datetime) -> None:
    """Print a ticket for each new order of the venues with a printer. Does nothing while another run prints.

    One query for the venues, one each for their orders, and one for each ticket. A printer that is away costs
    TIMEOUT_S; its tickets are printed by a later run, up to MAX_AGE after the order.
    """
    with LOCK.session() as is_mine:
        if not is_mine:
            return
        for venue_settings in OrderingSettings.objects.exclude(printer_address=None).select_related("venue"):
            print_tickets(venue_settings, now=now)


def print_tickets(venue_settings: OrderingSettings, *, now: datetime) -> None:
    orders = (
        Order.objects.of(venue_settings.venue)
        .filter(status=Order.Status.PENDING, ticket_printed_at=None, created_at__gt=now - MAX_AGE)
        .with_due_at(venue_settings.prep)
        .with_items()
        .order_by("created_at", "id")[:MAX_TICKETS]
    )
    address, port = str(venue_settings.printer_address), venue_settings.printer_port
    if not orders or not is_allowed(address):
        return
    try:
        with socket.create_connection((address, port), timeout=TIMEOUT_S) as printer:
            for order in orders:
                ticket = build_ticket(order, timezone=venue_settings.venue.timezone)
                # Marked before it is sent: a ticket that may have been printed is not printed again.
                if Order.objects.filter(pk=order.pk, ticket_printed_at=None).update(ticket_printed_at=now):
                    printer.sendall(ticket)
    except OSError as error:
        logger.warning("the ticket printer of venue %s failed: %s", venue_settings.venue.public_id, error)


def build_ticket(order: Order, *, timezone: str) -> bytes:
    """Return the ticket in ESC/POS. Characters that the printer does not have become question marks."""
    # Slow to import, and only installed with the extra `printing`.
    from escpos.printer import Dummy

    ticket, zone = Dummy(), ZoneInfo(timezone)
    ticket.hw("INIT")
    ticket.set(bold=True, double_width=True, double_height=True)
    ticket.textln(f"Order {order.number}")
    due_at, placed_at = order.due_at.astimezone(zone), order.created_at.astimezone(zone)
    ticket.textln(f"Due {due_at:%H:%M}" if due_at.date() == placed_at.date() else f"Due {due_at:%Y-%m-%d %H:%M}")
    if order.table:
        ticket.textln(f"Table {clean(order.table)}")
    ticket.set(bold=False, normal_textsize=True)
    ticket.textln(f"{order.fulfilment.upper().replace('_', '-')}, placed {placed_at:%Y-%m-%d %H:%M}")
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
    payment = "PAID" if order.payment_state == Order.PaymentState.PAID else order.payment_method
    ticket.textln(clean(f"{order.contact_name or order.customer_id}, {payment}"))
    ticket.cut()
    output: bytes = ticket.output
    return output


def clean(text: str) -> str:
    """Replace control characters: a guest's text gives the printer no commands."""
    return "".join(character if character.isprintable() else " " for character in text)
