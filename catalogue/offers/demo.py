"""Offers of the demo: venues with tables for well-reviewed restaurants of each market, and discounts there."""

import random
from dataclasses import dataclass
from datetime import datetime, time
from uuid import UUID, uuid5

from django.db import transaction

from accounts.models import Account, Venue
from catalogue.models import FlowRule, Listing, Market, Restaurant, SearchRow
from catalogue.offers.slot_materialization import lay_out
from framework.db.locks import AdvisoryLock
from reservations.models import ServicePeriod, Table

ACCOUNT = "Demo restaurants"
# Of two runs at once the second waits for the first, and then finds what it has made.
DEMO_LOCK = AdvisoryLock("demo offers")
# What ids are made of, so that the same restaurants have the same venues.
NAMESPACE = UUID("0192d6f0-6f0a-7c55-9c1e-5f0f3a3c9d10")
EVERY_DAY = [0, 1, 2, 3, 4, 5, 6]
# Name, first and last seating. A table is given at any quarter of an hour; the discounts are within.
PERIODS = [("Lunch", time(12, 0), time(14, 30)), ("Dinner", time(17, 0), time(22, 0))]
# The smallest and the largest party of each table.
TABLES = [(1, 2), (1, 2), (1, 2), (2, 4), (2, 4), (2, 4), (3, 6), (4, 8)]
# Weekdays, the first and the last slot, percent: an early dinner, a long lunch, a late table.
RULES = [
    ([0, 1, 2, 3], time(17, 30), time(18, 30), 30),
    (EVERY_DAY, time(17, 0), time(18, 0), 20),
    ([0, 1, 2, 3, 4], time(12, 0), time(13, 0), 25),
    ([6, 0, 1], time(20, 30), time(21, 30), 40),
    ([4, 5], time(21, 0), time(22, 0), 15),
]
TERMS = ["", "", "Not with other discounts", "Set menus excepted"]


@dataclass(frozen=True, slots=True)
class Made:
    """How much was added."""

    listings: int
    rules: int
    slots: int


def list_some(*, per_market: int, now: datetime) -> Made:
    """Join the most reviewed open restaurants of each market to venues of their own, and lay out their offers.

    Brings each market to `per_market` listings, so a second call adds nothing. The same restaurants get the same
    venues, tables and discounts. A query for each market, six statements, and those of the slots.
    """
    with transaction.atomic():
        DEMO_LOCK.acquire()
        account, _ = Account.objects.get_or_create(name=ACCOUNT)
        chosen = {uuid5(NAMESPACE, restaurant.slug): restaurant for restaurant in choose(per_market=per_market)}
        # Their venue is there already: staff have taken them off the list.
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
            )
            venues.append(venue)
            tables += [
                Table(venue=venue, name=f"T{number}", seats_min=least, seats_max=most)
                for number, (least, most) in enumerate(TABLES, start=1)
            ]
            periods += [
                ServicePeriod(venue=venue, name=name, weekdays=EVERY_DAY, first_seating=first, last_seating=last)
                for name, first, last in PERIODS
            ]
            listings.append(Listing(restaurant=restaurant, venue=venue, created_at=now))
            rules += discounts(restaurant)
        Venue.objects.bulk_create(venues)
        Table.objects.bulk_create(tables)
        ServicePeriod.objects.bulk_create(periods)
        Listing.objects.bulk_create(listings)
        FlowRule.objects.bulk_create(rules)
    slots = lay_out(now=now, restaurants=[restaurant.pk for restaurant in chosen.values()]) if chosen else 0
    return Made(listings=len(listings), rules=len(rules), slots=slots)


def choose(*, per_market: int) -> list[Restaurant]:
    """Of each market as many restaurants as it lacks: open, with hours, the most reviewed first. A query a market."""
    found: list[Restaurant] = []
    for market in Market.objects.order_by("slug"):
        listed = Listing.objects.filter(restaurant__market=market).count()
        if listed < per_market:
            rows = SearchRow.objects.filter(
                market=market.slug,
                is_shut=False,
                restaurant__status=Restaurant.Status.OPEN,
                restaurant__hours__periods__0__isnull=False,
                restaurant__listing=None,
            )
            # The index of lists is in this order.
            rows = rows.order_by("-rank_reviews", "restaurant").select_related("restaurant__market")
            found += [row.restaurant for row in rows[: per_market - listed]]
    return found


def discounts(restaurant: Restaurant) -> list[FlowRule]:
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
        for weekdays, first, last, percent in rng.sample(RULES, rng.choice([1, 2]))
    ]
