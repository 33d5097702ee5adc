"""What apps know of reservations and venues, for the guests' pages of others (the modules called `registry`)."""

from datetime import datetime

from accounts.models import Venue
from catalogue.models import FlowBooking, Listing
from framework.db.natural_sort import natural
from orders.contact_retention import erase_contacts_of
from orders.ordering_page import registry as ordering_page
from orders.ordering_page.registry import Spans
from reservations.booking.availability import ONE_DAY, load_hours
from reservations.booking.service_day import ServiceDay, merge_spans
from reservations.booking.venue_time import local_today
from reservations.guests import erasure
from reservations.models import Reservation, Table
from reservations.self_service import registry
from reservations.templatetags.branding import load_branding


def is_booked_at_offer(reservation: Reservation) -> bool:
    """Return whether the reservation has the time and the seats of an offer. One query."""
    return FlowBooking.objects.filter(reservation=reservation, slot__isnull=False).exists()


def find_coordinates(venue: Venue) -> tuple[float, float] | None:
    """Return latitude and longitude of the restaurant that the venue is joined to. One query."""
    rows = Listing.objects.filter(venue=venue).values_list("restaurant__latitude", "restaurant__longitude")
    latitude, longitude = rows.first() or (None, None)
    return None if latitude is None or longitude is None else (latitude, longitude)


def list_tables(venue: Venue) -> list[str]:
    """Return the names of the tables in use. One query."""
    rows = Table.objects.filter(venue=venue, is_active=True).order_by(natural("name"), "name")
    return list(rows.values_list("name", flat=True))


def find_hours(venue: Venue, now: datetime) -> tuple[Spans, Spans] | None:
    """Return the times of a week at which guests are seated, and those at which they may sit at a table.

    None for a venue without service periods. Two queries.
    """
    today = local_today(venue, now=now)
    days = [today + number * ONE_DAY for number in range(-1, 8)]
    periods, closures = load_hours(venue, days[0], days[-1] + ONE_DAY)
    if not periods:
        return None
    slots = [slot for day in days for slot in ServiceDay.build(venue, day, periods, closures).slots]
    seated = merge_spans((slot.starts_at, slot.seated_until) for slot in slots)
    at_table = merge_spans(
        (slot.starts_at, max(slot.seated_until, slot.starts_at + slot.period.longest_turn_time)) for slot in slots
    )
    return [span for span in seated if span[1] > now], [span for span in at_table if span[1] > now]


def register() -> None:
    registry.FIXED_RESERVATIONS.append(is_booked_at_offer)
    registry.COORDINATES.append(find_coordinates)
    ordering_page.LOOKS.append(load_branding)
    ordering_page.TABLES.append(list_tables)
    ordering_page.HOURS.append(find_hours)
    erasure.CONTACT_ERASERS.append(erase_contacts_of)
