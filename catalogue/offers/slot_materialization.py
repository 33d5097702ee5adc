"""Materialize slots: make the stored slots of the next 14 days match the rules, the hours and the venue's seatings."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Sum, Value
from django.db.models.functions import Coalesce

from catalogue.hours.open_intervals import parse_hours
from catalogue.models import FlowBooking, FlowRule, FlowSlot, Listing, SearchRow
from catalogue.offers.slot_rules import PLANNING_HORIZON, ListedRestaurant, SlotTerms, plan_slots
from reservations.models import Closure, ServicePeriod, Table

# Listings per transaction: about 3,000 slots if all are new.
BATCH = 50
RETENTION = timedelta(days=30)
UPDATED_FIELDS = [*SlotTerms._fields, "seats_left", "withdrawn_at"]

DELETE_OLD_SLOTS = """
DELETE FROM catalogue_flowslot AS slot
WHERE slot.starts_at < %(before)s
  AND NOT EXISTS (SELECT FROM catalogue_flowbooking AS booking WHERE booking.slot_id = slot.id)
"""
# No batch contains a restaurant without a listing.
WITHDRAW_UNLISTED = """
UPDATE catalogue_flowslot AS slot SET withdrawn_at = %(now)s
WHERE slot.starts_at > %(now)s AND slot.withdrawn_at IS NULL
  AND NOT EXISTS (SELECT FROM catalogue_listing AS listing WHERE listing.restaurant_id = slot.restaurant_id)
"""
# A booking locks the slot until it commits, so while the row is locked all its bookings are visible.
RECOUNT_SEATS = """
UPDATE catalogue_flowslot AS slot SET seats_left = greatest(0, slot.seats - coalesce((
    SELECT sum(booking.seats) FROM catalogue_flowbooking AS booking
    WHERE booking.slot_id = slot.id AND booking.released_at IS NULL
), 0))
WHERE slot.id = %(slot)s
"""


def materialize_slots(*, now: datetime, restaurants: Sequence[UUID] | None = None) -> int:
    """Create, update and withdraw slots, of these restaurants or of all; return the number of changed rows.

    A slot without bookings follows its rule. A slot with bookings keeps its terms, and only its seats change. Slots
    that no rule produces any more are withdrawn, and their bookings remain. Concurrent calls are safe: each
    restaurant's slots are written under the lock of its listing. About ten statements for 50 restaurants.
    """
    listings = Listing.objects.order_by("pk")
    if restaurants is not None:
        listings = listings.filter(restaurant__in=list(restaurants))
    keys = list(listings.values_list("pk", flat=True))
    changed = sum(_materialize_batch(keys[start : start + BATCH], now=now) for start in range(0, len(keys), BATCH))
    if restaurants is None:
        with connection.cursor() as cursor:
            cursor.execute(WITHDRAW_UNLISTED, {"now": now})
            changed += cursor.rowcount
            cursor.execute(DELETE_OLD_SLOTS, {"before": now - RETENTION})
            changed += cursor.rowcount
    return changed


def _materialize_batch(listings: Sequence[int], *, now: datetime) -> int:
    with transaction.atomic():
        restaurants = _lock_restaurants(listings, now=now)
        plans = {pk: plan_slots(restaurant, now=now) for pk, restaurant in restaurants.items()}
        slots = list(FlowSlot.objects.filter(restaurant__in=list(restaurants), starts_at__gt=now))
        booked = _booked_seats([slot.pk for slot in slots if slot.seats_left < slot.seats])
        outdated: dict[UUID, SlotTerms | None] = {}
        for slot in slots:
            # Later slots are not planned yet.
            if slot.starts_at < restaurants[slot.restaurant_id].planned_until(now=now):
                terms = plans[slot.restaurant_id].get((slot.rule_id, slot.starts_at))
                if _update_slot(slot, terms, booked=booked.get(slot.pk, 0), now=now):
                    outdated[slot.pk] = terms
        existing = {(slot.rule_id, slot.starts_at) for slot in slots}
        created = [
            FlowSlot(restaurant_id=pk, rule_id=rule, starts_at=at, seats_left=terms.seats, **terms._asdict())
            for pk, plan in plans.items()
            for (rule, at), terms in plan.items()
            if (rule, at) not in existing
        ]
        FlowSlot.objects.bulk_create(created, ignore_conflicts=True, batch_size=1000)
        if not outdated:
            return len(created)
        # Again with locks, because bookings may have changed the slots since.
        slots = list(FlowSlot.objects.select_for_update(no_key=True).filter(pk__in=list(outdated)).order_by("pk"))
        booked = _booked_seats(list(outdated))
        updated = [row for row in slots if _update_slot(row, outdated[row.pk], booked=booked.get(row.pk, 0), now=now)]
        FlowSlot.objects.bulk_update(updated, UPDATED_FIELDS, batch_size=200)
        return len(created) + len(updated)


def _update_slot(slot: FlowSlot, terms: SlotTerms | None, *, booked: int, now: datetime) -> bool:
    """Apply the terms of the rule to a slot, None if no rule produces it; return whether that changes it."""
    before = [getattr(slot, name) for name in UPDATED_FIELDS]
    if terms is None or slot.is_barred:
        slot.withdrawn_at = slot.withdrawn_at or now
    else:
        slot.withdrawn_at = None
        for name, value in terms._asdict().items():
            if not booked or name == "seats":
                setattr(slot, name, value)
        slot.seats_left = max(0, slot.seats - booked)
    return before != [getattr(slot, name) for name in UPDATED_FIELDS]


def _booked_seats(slots: Iterable[UUID]) -> dict[UUID, int]:
    bookings = FlowBooking.objects.filter(slot__in=slots, released_at=None).order_by()
    return dict(bookings.values_list("slot").annotate(booked=Sum("seats")))


def _lock_restaurants(listings: Sequence[int], *, now: datetime) -> dict[UUID, ListedRestaurant]:
    """Lock these listings and load what their slots depend on. Seven queries."""
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
    # The order decides which period counts (reservations.booking.availability.DaySlots).
    for period in ServicePeriod.objects.filter(venue__in=venues).order_by("first_seating", "name", "id"):
        periods[period.venue_id].append(period)
    closures: dict[UUID, list[Closure]] = defaultdict(list)
    upcoming = Closure.objects.filter(venue__in=venues, last_date__gte=(now - timedelta(days=2)).date())
    for closure in upcoming.order_by("first_date", "id"):
        closures[closure.venue_id].append(closure)
    has_tables = set(Table.objects.filter(venue__in=venues, is_active=True).values_list("venue", flat=True))
    search_rows = {row.pk: row for row in SearchRow.objects.filter(restaurant__in=restaurants)}
    listed = {}
    for row in rows:
        search_row = search_rows.get(row.restaurant_id)
        if search_row and search_row.intervals_until:
            intervals, until = search_row.open_intervals, search_row.intervals_until
        else:
            # The worker has not computed the intervals yet.
            hours = parse_hours(row.restaurant)
            until = now + PLANNING_HORIZON
            intervals = hours.spans(start=now, end=until) if hours and hours.known else None
        listed[row.restaurant_id] = ListedRestaurant(
            restaurant=row.restaurant,
            venue=row.venue,
            is_active=row.is_active,
            has_tables=row.venue_id in has_tables,
            rules=rules[row.restaurant_id],
            periods=periods[row.venue_id],
            closures=closures[row.venue_id],
            intervals=intervals,
            intervals_until=until,
        )
    return listed


def release_cancelled_bookings(*, now: datetime) -> int:
    """Release the seats of bookings whose reservations were cancelled; return how many. One query if there are none.

    Of concurrent calls one releases each booking.
    """
    cancelled = FlowBooking.objects.filter(
        released_at=None,
        reservation__status="cancelled",
        # The conditions of the partial index on slots with bookings.
        slot__starts_at__gt=now,
        slot__seats_left__lt=F("slot__seats"),
    )
    return sum(release_seats(booking, now=now) for booking in cancelled.order_by("pk"))


def withdraw_slots(slots: Sequence[UUID], *, now: datetime) -> int:
    """Withdraw slots permanently, whatever their rules say; return how many were not. Bookings remain."""
    with transaction.atomic():
        rows = FlowSlot.objects.select_for_update(no_key=True).filter(pk__in=slots, is_barred=False).order_by("pk")
        keys = list(rows.values_list("pk", flat=True))
        return FlowSlot.objects.filter(pk__in=keys).update(
            is_barred=True, withdrawn_at=Coalesce("withdrawn_at", Value(now))
        )


def lock_slot(slot: UUID) -> None:
    """Lock a slot until the transaction ends. Bookings lock it before the reservation and the venue's tally."""
    FlowSlot.objects.select_for_update(no_key=True).get(pk=slot)


def release_seats(booking: FlowBooking, *, now: datetime) -> bool:
    """Return the seats of a booking to its slot; False if it has none, or that was done before. Three statements."""
    if booking.slot_id is None:
        return False
    with transaction.atomic():
        lock_slot(booking.slot_id)
        if not FlowBooking.objects.filter(pk=booking.pk, released_at=None).update(released_at=now):
            return False
        with connection.cursor() as cursor:
            cursor.execute(RECOUNT_SEATS, {"slot": booking.slot_id})
        booking.released_at = now
        return True
