"""Demo offers: venues with tables and discounts for popular restaurants of each market."""

import random
from datetime import datetime, time
from uuid import UUID, uuid5

from django.db import transaction

from accounts.models import Account, Venue
from catalogue.models import FlowRule, Listing, Market, Restaurant, SearchRow
from catalogue.offers.slot_materialization import materialize_slots
from framework.db.locks import AdvisoryLock
from framework.languages import language_of_country
from reservations.models import ServicePeriod, Table

ACCOUNT = "Demo restaurants"
# Concurrent runs wait for each other.
DEMO_LOCK = AdvisoryLock("demo offers")
# Namespace of the ids, so that the same restaurants get the same venues.
NAMESPACE = UUID("0192d6f0-6f0a-7c55-9c1e-5f0f3a3c9d10")
EVERY_DAY = [0, 1, 2, 3, 4, 5, 6]
# Name, first and last seating. Tables can be booked every quarter of an hour; all discounts lie within.
PERIODS = [("Lunch", time(12, 0), time(14, 30)), ("Dinner", time(17, 0), time(22, 0))]
# Minimum and maximum party size of each table.
TABLES = [(1, 2), (1, 2), (1, 2), (2, 4), (2, 4), (2, 4), (3, 6), (4, 8)]
# Weekdays, first and last slot, percent.
DISCOUNTS = [
    ([0, 1, 2, 3], time(17, 30), time(18, 30), 30),
    (EVERY_DAY, time(17, 0), time(18, 0), 20),
    ([0, 1, 2, 3, 4], time(12, 0), time(13, 0), 25),
    ([6, 0, 1], time(20, 30), time(21, 30), 40),
    ([4, 5], time(21, 0), time(22, 0), 15),
]
TERMS = ["", "", "Not with other discounts", "Set menus excepted"]


def create_offers(*, per_market: int, now: datetime) -> tuple[int, int, int]:
    """Create venues, tables, listings and discounts until each market has `per_market` listings.

    Returns the numbers of new listings, rules and slots.

    A second call adds nothing, and concurrent calls wait for each other. The same restaurants get the same venues,
    tables and discounts. A query for each market, six statements, and those of the slots.
    """
    with transaction.atomic():
        DEMO_LOCK.acquire()
        account, _ = Account.objects.get_or_create(name=ACCOUNT)
        chosen = {uuid5(NAMESPACE, restaurant.slug): restaurant for restaurant in _choose(per_market=per_market)}
        # A restaurant whose venue exists has been removed from the listings by staff.
        for venue_id in Venue.objects.filter(pk__in=list(chosen)).values_list("pk", flat=True):
            del chosen[venue_id]
        venues, tables, periods, listings, rules = [], [], [], [], []
        for venue_id, restaurant in chosen.items():
            venue = Venue(
                id=venue_id,
                account=account,
                name=restaurant.name,
                timezone=restaurant.market.timezone,
                currency=restaurant.market.currency,
                language=language_of_country(restaurant.market.country),
            )
            venues.append(venue)
            tables += [
                Table(venue=venue, name=f"T{number}", seats_min=seats_min, seats_max=seats_max)
                for number, (seats_min, seats_max) in enumerate(TABLES, start=1)
            ]
            periods += [
                ServicePeriod(venue=venue, name=name, weekdays=EVERY_DAY, first_seating=first, last_seating=last)
                for name, first, last in PERIODS
            ]
            listings.append(Listing(restaurant=restaurant, venue=venue, by_staff=True, created_at=now))
            rules += _discount_rules(restaurant)
        Venue.objects.bulk_create(venues)
        Table.objects.bulk_create(tables)
        ServicePeriod.objects.bulk_create(periods)
        Listing.objects.bulk_create(listings)
        FlowRule.objects.bulk_create(rules)
    slots = materialize_slots(now=now, restaurants=[restaurant.pk for restaurant in chosen.values()]) if chosen else 0
    return len(listings), len(rules), slots


def _choose(*, per_market: int) -> list[Restaurant]:
    """Return the restaurants that each market lacks: open, with hours, the highest number of reviews first."""
    chosen: list[Restaurant] = []
    for market in Market.objects.order_by("slug"):
        missing = per_market - Listing.objects.filter(restaurant__market=market).count()
        if missing > 0:
            rows = SearchRow.objects.filter(
                market=market.slug,
                is_shut=False,
                restaurant__status=Restaurant.Status.OPEN,
                restaurant__hours__periods__0__isnull=False,
                restaurant__listing=None,
            )
            # An index has this order.
            rows = rows.order_by("-rank_reviews", "restaurant").select_related("restaurant__market")
            chosen += [row.restaurant for row in rows[:missing]]
    return chosen


def _discount_rules(restaurant: Restaurant) -> list[FlowRule]:
    """One discount or two, the same ones for the same slug."""
    rng = random.Random(restaurant.slug)  # noqa: S311  # reproducible, not secret
    return [
        FlowRule(
            restaurant=restaurant,
            weekdays=weekdays,
            time=first,
            until=last,
            percent=percent,
            seats=rng.choice([4, 6, 8]),
            party_max=4,
            applies_to=rng.choice(FlowRule.AppliesTo.values),
            book_before_minutes=rng.choice([30, 60]),
            terms=rng.choice(TERMS),
        )
        for weekdays, first, last, percent in rng.sample(DISCOUNTS, rng.choice([1, 2]))
    ]
