"""Prepares the restaurants that the agent tasks are about, by `manage.py shell` of a running product."""

import datetime as dt

from django.utils import timezone

from catalogue.hours.open_intervals import refresh_open_intervals
from catalogue.models import Listing, Restaurant, SearchRow
from catalogue.offers.demo import create_offers
from reservations.booking import commands
from reservations.models import Area, Table
from tests.catalogue.builders import week

now = timezone.now()
# Six restaurants of each market can be booked.
create_offers(per_market=6, now=now)
berlin = Restaurant.objects.filter(market="berlin")
# All of Berlin's are open day and night, so that the tasks do not depend on the hour at which they run.
for place in berlin:
    place.hours = week("00:00", "24:00", timezone="Europe/Berlin")
    place.save(update_fields=["hours"])
refresh_open_intervals(now=now)
# One of those that can be booked has seats outdoors: a terrace with two of its tables.
listing = Listing.objects.get(restaurant__slug="konya-by-orhan")
listing.restaurant.attributes["outdoor_seating"] = True
listing.restaurant.save(update_fields=["attributes"])
terrace = Area.objects.create(venue=listing.venue, name="Terrace")
Table.objects.filter(venue=listing.venue, name__in=["T1", "T4"]).update(area=terrace)
# One place of Copenhagen is vegan, and one of Milan has gluten-free dishes and no seats outdoors.
for market, changes in {
    "copenhagen": {"diet_vegan": True},
    "milan": {"diet_gluten_free": True, "outdoor_seating": False},
}.items():
    place = Restaurant.objects.filter(market=market).order_by("slug")[0]
    place.attributes |= changes
    place.save(update_fields=["attributes"])
# The restaurant with the most reviews in Milan has one table, which is taken in eight days at half past seven.
row = SearchRow.objects.filter(restaurant__market="milan", restaurant__listing__isnull=False)
listing = Listing.objects.get(restaurant=row.order_by("-review_count").values("restaurant")[:1])
Table.objects.filter(venue=listing.venue).exclude(name="T4").update(is_active=False)
commands.book(
    listing.venue,
    now=now,
    actor="guest",
    customer_name="Another guest",
    day=now.date() + dt.timedelta(days=8),
    at=dt.time(19, 30),
    party_size=2,
    customer_email="another@example.com",
)
