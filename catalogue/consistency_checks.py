"""Consistency checks of offers, deposits, paid orders and exports."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from django.db.models import Q

from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart
from framework.consistency import Checks, Finding, query
from framework.public_ids import encode
from orders.models import Order
from orders.models.orders import PREFIX as ORDER
from payments.models import Payment

SEATS = """
    SELECT slot.id, concat('of ', slot.seats, ' seats ', coalesce(held.seats, 0), ' are booked, and seats_left is ',
        slot.seats_left)
    FROM catalogue_flowslot AS slot
    LEFT JOIN (
        SELECT slot_id, sum(seats) AS seats FROM catalogue_flowbooking WHERE released_at IS NULL GROUP BY slot_id
    ) AS held ON held.slot_id = slot.id
    WHERE slot.seats_left <> greatest(0, slot.seats - coalesce(held.seats, 0))
    ORDER BY slot.id
"""


DEPOSITS = """
    SELECT payment.id, concat('the payment of the deposit is ', payment.state, ', and the deposit is ',
        coalesce(nullif(terms.deposit_state, ''), 'of no reservation'))
    FROM payments_payment AS payment
    LEFT JOIN catalogue_deposit AS deposit ON deposit.payment_id = payment.id
    LEFT JOIN catalogue_flowbooking AS booking ON booking.id = deposit.booking_id
    LEFT JOIN reservations_agreedterms AS terms ON terms.reservation_id = booking.reservation_id
    LEFT JOIN reservations_reservation AS reservation ON reservation.id = booking.reservation_id
    WHERE payment.products @> ARRAY['deposit']::varchar[] AND (
        (payment.state = 'delivered' AND coalesce(terms.deposit_state, '') NOT IN ('held', 'kept')
            AND (payment.block IS NOT NULL OR payment.error = ''))
        OR (payment.state = 'settled' AND deposit.booking_id IS NOT NULL)
        OR (terms.deposit_state = 'held' AND reservation.status <> 'confirmed')
    )
    ORDER BY payment.id
"""


ORDER_PAYMENTS = """
    SELECT coalesce(payment.id, placed.usdc_payment), concat('the payment is ', coalesce(payment.state, 'missing'),
        ', and its order is ', coalesce(nullif(placed.payment_state, ''), 'unknown'))
    FROM (SELECT * FROM payments_payment WHERE products @> ARRAY['order']::varchar[]) AS payment
    FULL JOIN (SELECT * FROM orders_order WHERE usdc_payment IS NOT NULL) AS placed
        ON placed.usdc_payment = payment.id
    WHERE payment.id IS NULL
        OR (payment.state = 'delivered' AND placed.payment_state <> 'paid'
            AND (payment.block IS NOT NULL OR payment.error = ''))
        OR (payment.state = 'settled' AND placed.id IS NOT NULL)
        OR (placed.payment_state = 'paid' AND placed.status = 'cancelled')
        OR (placed.payment_state = 'refunded' AND payment.state <> 'refunded')
    ORDER BY 1
"""


CHECKOUTS = """
    SELECT placed.id, concat('its checkout session is ', session.state, ', and the order is ', placed.status, ' and ',
        coalesce(nullif(placed.payment_state, ''), 'not to be paid in USDC'))
    FROM orders_checkoutsession AS session JOIN orders_order AS placed ON placed.id = session.order_id
    WHERE (session.state = 'placed' AND session.updated_at < now() - interval '15 minutes'
            AND NOT EXISTS (
                SELECT FROM payments_payment AS payment
                WHERE payment.products @> ARRAY['order']::varchar[] AND payment.delivered_at IS NULL
                    AND payment.state IN ('claimed', 'unknown', 'settled')
            ))
        OR (session.state = 'completed' AND session.content -> 'instrument' ->> 'handler_id' = 'x402'
            AND placed.payment_state NOT IN ('paid', 'refund_due', 'refunded'))
        OR placed.venue_id <> session.venue_id
    ORDER BY 1
"""


def check_order_payments() -> Iterator[Finding]:
    """Yield payments that contradict their orders. Those of deleted orders are not compared."""
    yield from query("order_payments", ORDER_PAYMENTS, subject=partial(encode, "pay"))
    linked = Order.objects.filter(usdc_payment__isnull=False).values("usdc_payment")
    is_not_contradicted = Q(block__isnull=False) | Q(error="")
    unlinked = Payment.objects.filter(is_not_contradicted, state="delivered", products__contains=[Payment.ORDER])
    for payment in unlinked.exclude(pk__in=linked).order_by("pk").iterator():
        if Order.objects.with_public_id(payment.purchase).exists():
            yield Finding(
                "order_payments", payment.public_id, "the payment is delivered, and its order names none or another"
            )


def check_exports(*, now: datetime) -> Iterator[Finding]:
    """Yield finished exports whose parts, rows or files are incomplete. Lists the folder of each export."""
    for export in Export.objects.filter(status=Export.Status.SUCCEEDED, expires_at__gt=now).order_by("pk").iterator():
        problem = find_export_problem(export)
        # The export may have expired since, and its files been deleted.
        current = Export.objects.filter(pk=export.pk, status=Export.Status.SUCCEEDED)
        if problem is not None and current.exists():
            yield Finding("export_parts", export.public_id, problem)


def find_export_problem(export: Export) -> str | None:
    """Return why a finished export is incomplete; None if it is complete."""
    parts = list(export.parts.order_by("seq"))
    numbers = [part.seq for part in parts]
    if numbers != list(range(1, len(parts) + 1)) or not parts:
        return f"its parts are {', '.join(map(str, numbers)) or 'none'}"
    unwritten = [part.seq for part in parts if part.state != ExportPart.State.DONE]
    if unwritten:
        return f"part {unwritten[0]} is not done"
    rows = sum(part.rows or 0 for part in parts if part.kind == ExportPart.Kind.ROWS)
    if rows != export.rows:
        return f"its parts have {rows} rows, its row says {export.rows}"
    found = files.list_sizes(export.public_id)
    for part in parts:
        if found.get(part.file) != part.bytes:
            there = f"has {found[part.file]} bytes" if part.file in found else "is not there"
            return f"{part.file} {there}, its row says {part.bytes}"
    manifest = files.path_of_manifest(export, export.manifest_sha256).rpartition("/")[2]
    return None if manifest in found else f"{manifest} is not there"


def run_checks(now: datetime) -> Checks:
    return {
        "offer_seats": query("offer_seats", SEATS, subject=partial(encode, "fo")),
        "deposits": query("deposits", DEPOSITS, subject=partial(encode, "pay")),
        "order_payments": check_order_payments(),
        "checkout_sessions": query("checkout_sessions", CHECKOUTS, subject=partial(encode, ORDER)),
        "export_parts": check_exports(now=now),
    }
