"""Which events members can be alerted of, the right that each kind needs, and its text."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import AlertKind, EventType
from accounts.tenancy.permissions import Right

RIGHTS: Mapping[str, Right] = {
    AlertKind.ORDER_PLACED: Right.ORDERS,
    AlertKind.ORDER_PAID: Right.ORDERS,
    AlertKind.ORDER_CANCELLED: Right.ORDERS,
    AlertKind.RESERVATION_CONFIRMED: Right.RESERVATIONS,
    AlertKind.RESERVATION_REQUESTED: Right.RESERVATIONS,
    AlertKind.RESERVATION_CANCELLED: Right.RESERVATIONS,
}
# The reasons for which a request waits for the staff (reservations.models.Reservation.PendingReason).
DECIDED_BY_STAFF = ("manual", "large_party")


def find_kind(event: str, record: Mapping[str, Any], *, actor: str) -> AlertKind | None:
    """Return the kind of alert that an event is, None for most events."""
    is_by_guest = actor == "guest"
    match event:
        case EventType.ORDER_CREATED:
            return AlertKind.ORDER_PLACED
        case EventType.ORDER_UPDATED if is_by_guest and (record.get("payment") or {}).get("state") == "paid":
            return AlertKind.ORDER_PAID
        case EventType.ORDER_CANCELLED:
            return AlertKind.ORDER_CANCELLED
        case EventType.RESERVATION_CONFIRMED:
            return AlertKind.RESERVATION_CONFIRMED
        # Also a request that the guest has just confirmed by email, or changed.
        case EventType.RESERVATION_CREATED | EventType.RESERVATION_UPDATED if (
            record.get("status") == "pending"
            and record.get("pending_reason") in DECIDED_BY_STAFF
            and (event == EventType.RESERVATION_CREATED or is_by_guest)
        ):
            return AlertKind.RESERVATION_REQUESTED
        # Staff and the periodic tasks cancel, too.
        case EventType.RESERVATION_CANCELLED if is_by_guest or actor.startswith(("key:", "app:")):
            return AlertKind.RESERVATION_CANCELLED
    return None


def describe(kind: AlertKind, record: Mapping[str, Any]) -> str:
    """Return what has happened, in one line of the current language, without personal data."""
    total = f"{record['total']} {record['currency']}" if record.get("total") else ""
    values = {name: record.get(name) for name in ("number", "code", "party_size", "date", "time")} | {"total": total}
    match kind:
        case AlertKind.ORDER_PLACED if total:
            return _("New order %(number)s: %(total)s") % values
        case AlertKind.ORDER_PLACED:
            return _("New order %(number)s") % values
        case AlertKind.ORDER_PAID:
            return _("Order %(number)s is paid online") % values
        case AlertKind.ORDER_CANCELLED:
            return _("Order %(number)s is cancelled") % values
        case AlertKind.RESERVATION_CONFIRMED:
            return _("New reservation %(code)s: %(party_size)s on %(date)s at %(time)s") % values
        case AlertKind.RESERVATION_REQUESTED:
            return _("Request %(code)s to review: %(party_size)s on %(date)s at %(time)s") % values
        case AlertKind.RESERVATION_CANCELLED:
            return _("Reservation %(code)s is cancelled: %(party_size)s on %(date)s at %(time)s") % values
