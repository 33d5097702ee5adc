"""From rules to slots: the slots of the next two weeks are made what the rules, the hours and the book say."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Sum, Value
from django.db.models.functions import Coalesce

from catalogue.hours import open_spans as hours_open_spans
from catalogue.models import FlowBooking, FlowRule, FlowSlot, Listing, Restaurant, SearchRow
from catalogue.models.postgres_fields import Span
from catalogue.offers.slot_rules import AHEAD, Place, Terms, wanted
from reservations.models import Closure, ServicePeriod, Table

# Listings of one transaction: some 3,000 slots where all are new.
BATCH = 50
KEPT = timedelta(days=30)
CHANGED = [*Terms._fields, "seats_left", "withdrawn_at"]

# What nobody has booked leaves no trace.
FORGET = """
DELETE FROM catalogue_flowslot AS slot
WHERE slot.starts_at < %(before)s
  AND NOT EXISTS (SELECT FROM catalogue_flowbooking AS booking WHERE booking.slot_id = slot.id)
"""
# A restaurant that is not joined to a venue any more, which no batch comes by.
ABANDON = """
UPDATE catalogue_flowslot AS slot SET withdrawn_at = %(now)s
WHERE slot.starts_at > %(now)s AND slot.withdrawn_at IS NULL
  AND NOT EXISTS (SELECT FROM catalogue_listing AS listing WHERE listing.restaurant_id = slot.restaurant_id)
"""
# Whoever takes seats holds the row until the commit, so once it is locked the bookings that are seen are all.
RECOUNT = """
UPDATE catalogue_flowslot AS slot SET seats_left = greatest(0, slot.seats - coalesce((
    SELECT sum(booking.seats) FROM catalogue_flowbooking AS booking
    WHERE booking.slot_id = slot.id AND booking.released_at IS NULL
), 0))
WHERE slot.id = %(slot)s
"""


def lay_out(*, now: datetime, restaurants: Sequence[UUID] | None = None) -> int:
    """Make the slots of the next 14 days what the rules say, of these restaurants or of all; how many rows changed.

    A slot that nobody has booked follows its rule. One that is booked keeps what was promised; of it only the seats
    follow. What the rules do not make any more is withdrawn from sale, and its bookings stand. Any number may run at
    once: a restaurant's slots are written by whoever holds its listing. Some ten statements for 50 restaurants.
    """
    listings = Listing.objects.order_by("pk")
    if restaurants is not None:
        listings = listings.filter(restaurant__in=list(restaurants))
    keys = list(listings.values_list("pk", flat=True))
    changed = sum(_lay_out_some(keys[start : start + BATCH], now=now) for start in range(0, len(keys), BATCH))
    if restaurants is None:
        with connection.cursor() as cursor:
            cursor.execute(ABANDON, {"now": now})
            changed += cursor.rowcount
            cursor.execute(FORGET, {"before": now - KEPT})
            changed += cursor.rowcount
    return changed


def _lay_out_some(listings: Sequence[int], *, now: datetime) -> int:
    with transaction.atomic():
        places = _places(listings, now=now)
        plans = {restaurant: wanted(place, now=now) for restaurant, place in places.items()}
        slots = list(FlowSlot.objects.filter(restaurant__in=list(places), starts_at__gt=now))
        held = _held([slot.pk for slot in slots if slot.seats_left < slot.seats])
        to_change: dict[UUID, Terms | None] = {}
        for slot in slots:
            # What is too far ahead is known to a later run.
            if slot.starts_at < places[slot.restaurant_id].until(now=now):
                terms = plans[slot.restaurant_id].get((slot.rule_id, slot.starts_at))
                if _settle(slot, terms, held=held.get(slot.pk, 0), now=now):
                    to_change[slot.pk] = terms
        there = {(slot.rule_id, slot.starts_at) for slot in slots}
        to_make = [
            FlowSlot(restaurant_id=restaurant, rule_id=rule, starts_at=at, seats_left=terms.seats, **terms._asdict())
            for restaurant, plan in plans.items()
            for (rule, at), terms in plan.items()
            if (rule, at) not in there
        ]
        FlowSlot.objects.bulk_create(to_make, ignore_conflicts=True, batch_size=1000)
        return len(to_make) + _change(to_change, now=now)


def _change(to_change: Mapping[UUID, Terms | None], *, now: datetime) -> int:
    """Settle these slots as they are once nobody else writes them; how many had to be."""
    if not to_change:
        return 0
    slots = list(FlowSlot.objects.select_for_update(no_key=True).filter(pk__in=list(to_change)).order_by("pk"))
    held = _held(list(to_change))
    changed = [slot for slot in slots if _settle(slot, to_change[slot.pk], held=held.get(slot.pk, 0), now=now)]
    FlowSlot.objects.bulk_update(changed, CHANGED, batch_size=200)
    return len(changed)


def _settle(slot: FlowSlot, terms: Terms | None, *, held: int, now: datetime) -> bool:
    """Make a slot what its rule says now, None for nothing any more; whether that changes it."""
    before = [getattr(slot, name) for name in CHANGED]
    if terms is None or slot.is_barred:
        slot.withdrawn_at = slot.withdrawn_at or now
    else:
        slot.withdrawn_at = None
        for name, value in terms._asdict().items():
            if not held or name == "seats":
                setattr(slot, name, value)
        slot.seats_left = max(0, slot.seats - held)
    return before != [getattr(slot, name) for name in CHANGED]


def _held(slots: Iterable[UUID]) -> dict[UUID, int]:
    """How many seats of each slot are booked, where any are."""
    bookings = FlowBooking.objects.filter(slot__in=slots, released_at=None).order_by()
    return dict(bookings.values_list("slot").annotate(held=Sum("seats")))


def _places(listings: Sequence[int], *, now: datetime) -> dict[UUID, Place]:
    """The listed restaurants, held until the end of the transaction. Seven queries."""
    rows = list(
        Listing.objects.select_for_update(no_key=True, of=("self",))
        .filter(pk__in=listings)
        .select_related("restaurant__market", "venue")
        .order_by("pk")
    )
    restaurants, venues = [row.restaurant_id for row in rows], [row.venue_id for row in rows]
    rules: dict[UUID, list[FlowRule]] = defaultdict(list)
    for rule in FlowRule.objects.filter(restaurant__in=restaurants, active=True).order_by("pk"):
        rules[rule.restaurant_id].append(rule)
    periods: dict[UUID, list[ServicePeriod]] = defaultdict(list)
    # In the order in which they count (reservations.booking.availability.Hours).
    for period in ServicePeriod.objects.filter(venue__in=venues).order_by("first_seating", "name", "id"):
        periods[period.venue_id].append(period)
    closures: dict[UUID, list[Closure]] = defaultdict(list)
    coming = Closure.objects.filter(venue__in=venues, last_date__gte=(now - timedelta(days=2)).date())
    for closure in coming.order_by("first_date", "id"):
        closures[closure.venue_id].append(closure)
    seating = set(Table.objects.filter(venue__in=venues, is_active=True).values_list("venue", flat=True))
    spans = SearchRow.objects.filter(restaurant__in=restaurants)
    known = {
        key: (open_spans, until) for key, open_spans, until in spans.values_list("pk", "open_spans", "spans_until")
    }
    places = {}
    for row in rows:
        open_spans, until = known.get(row.restaurant_id, (None, None))
        places[row.restaurant_id] = Place(
            restaurant=row.restaurant,
            venue=row.venue,
            is_active=row.is_active,
            has_tables=row.venue_id in seating,
            rules=rules[row.restaurant_id],
            periods=periods[row.venue_id],
            closures=closures[row.venue_id],
            spans=_spans(row.restaurant, now=now) if until is None else open_spans,
            spans_until=until or now + AHEAD,
        )
    return places


def _spans(restaurant: Restaurant, *, now: datetime) -> list[Span] | None:
    """When it is open by its hours, for while nobody has worked out its open spans; None where that is not known."""
    hours = hours_open_spans.stated(restaurant)
    return hours.spans(start=now, end=now + AHEAD) if hours and hours.known else None


def release(*, now: datetime) -> int:
    """Give slots the seats back whose reservations were cancelled, by whomever; to how many bookings that was news.

    Of two at once one gives them back. One query where nothing was cancelled.
    """
    cancelled = FlowBooking.objects.filter(
        released_at=None,
        reservation__status="cancelled",
        # The index of the slots that somebody holds seats of.
        slot__starts_at__gt=now,
        slot__seats_left__lt=F("slot__seats"),
    )
    return sum(give_back(booking, now=now) for booking in cancelled.order_by("pk"))


def withdraw(chosen: Sequence[UUID], *, now: datetime) -> int:
    """Take slots off sale for good, whatever their rules say; how many were not so already. Bookings stand."""
    with transaction.atomic():
        rows = FlowSlot.objects.select_for_update(no_key=True).filter(pk__in=chosen, is_barred=False).order_by("pk")
        keys = list(rows.values_list("pk", flat=True))
        return FlowSlot.objects.filter(pk__in=keys).update(
            is_barred=True, withdrawn_at=Coalesce("withdrawn_at", Value(now))
        )


def hold(slot: UUID) -> None:
    """Be the only one who writes this slot until the transaction ends.

    The slot is locked before the reservation and the venue's tally: whoever books takes them in this order.
    """
    FlowSlot.objects.select_for_update(no_key=True).get(pk=slot)


def give_back(booking: FlowBooking, *, now: datetime) -> bool:
    """Give the slot the seats of a booking back; False where that was done before. Three statements."""
    with transaction.atomic():
        hold(booking.slot_id)
        if not FlowBooking.objects.filter(pk=booking.pk, released_at=None).update(released_at=now):
            return False
        with connection.cursor() as cursor:
            cursor.execute(RECOUNT, {"slot": booking.slot_id})
        booking.released_at = now
        return True
